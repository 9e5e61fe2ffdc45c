// One index for several processes on a real OpenSearch: which process feeds it, and what happens when a process or the
// engine fails.

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import { ApiError } from '#lib/errors.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import { openOpenSearchIndex } from '#ports/search-index/opensearch/opensearch-search-index.ts'
import { databaseUrl } from '#test/support/app/database.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { startOpenSearch, startOwnOpenSearch } from '#test/support/engines/opensearch.ts'
import { type SlowProxy, startProxy } from '#test/support/stand-ins/slow-proxy.ts'
import { createSearchFeed, type SearchFeed } from './search-feed.ts'
import { sharedLeases } from './shared-lease.ts'

const engine = await startOpenSearch()
const skip = typeof engine === 'string' ? engine : false
let t: TestApp
let proxy: SlowProxy
before(async () => {
  if (typeof engine === 'string') return
  t = await testApp()
  proxy = await startProxy(engine.url)
})
after(async () => {
  if (typeof engine === 'string') return
  await t.close()
  await proxy.close()
  await engine.stop()
})
let opened: SearchFeed[] = []
afterEach(async () => {
  await Promise.all(opened.map((feed) => feed.close()))
  opened = []
})

type Opened = SearchFeed & { messages: string[]; find(text: string): Promise<string[]> }

/** The search of one process among those that share the index of that prefix. */
function openFeed(prefix: string, url: string): Opened {
  const messages: string[] = []
  const log = silentLog()
  const note = (...parts: unknown[]) => void messages.push(String(parts.at(-1)))
  Object.assign(log, { info: note, warn: note, error: note })
  const { db, taxonomy } = t.deps
  const connect = async () => {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
    const client = new pg.Client({
      connectionString: databaseUrl(rows[0]?.name ?? ''),
      application_name: `feeder of ${prefix}`,
    })
    await client.connect()
    return client
  }
  const feed = createSearchFeed({
    ...{ db, taxonomy, log, pollMs: 10, saveEveryMs: 0, checkEveryMs: 50, rebuildRetryMs: 50 },
    leases: sharedLeases({ db, connect, name: prefix }),
    openIndex: async () => openOpenSearchIndex({ url, prefix }),
  })
  opened.push(feed)
  const find = async (text: string) => {
    const { body } = await feed.search({ text, filter: EVERYTHING, sort: 'relevance', offset: 0, limit: 100 })
    return JSON.parse(Buffer.from(body).toString()).hits.map(({ name }: { name: string }) => name)
  }
  return Object.assign(feed, { messages, find })
}

function sharedUrl(): string {
  assert.ok(typeof engine !== 'string')
  return engine.url
}

function newPrefix(): string {
  assert.ok(typeof engine !== 'string')
  return engine.prefix()
}

const rename = (id: string, name: string) =>
  t.deps.db.updateTable('project').set({ name }).where('id', '=', id).execute()
const builds = (feeds: readonly Opened[]) =>
  feeds.flatMap(({ messages }) => messages.filter((message) => message.startsWith('Built'))).length
const feeders = async (feeds: readonly Opened[]) =>
  (await Promise.all(feeds.map((feed) => feed.state()))).filter(({ isFeeding }) => isFeeding).length
const isUnavailable = (error: unknown) =>
  error instanceof ApiError && error.status === 503 && error.headers?.['retry-after'] !== undefined

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 600_000
  while (!(await holds())) {
    assert.ok(performance.now() < end, 'it did not come about in time')
    await sleep(10)
  }
}

test('one process feeds and the others find the same; when it stops, another continues without a new build', {
  skip,
}, async () => {
  const prefix = newPrefix()
  const project = await t.make.project({ name: 'Shared Lantern' })
  const feeds = [1, 2, 3].map(() => openFeed(prefix, sharedUrl()))
  await Promise.all(feeds.map((feed) => feed.caughtUp()))
  assert.deepEqual([await feeders(feeds), builds(feeds)], [1, 1])
  for (const name of ['Shared Lantern Two', 'Shared Lantern Three']) {
    await rename(project.id, name)
    for (const feed of feeds) {
      await feed.caughtUp()
      assert.deepEqual(await feed.find('shared lantern'), [name])
    }
  }
  const states = await Promise.all(feeds.map((feed) => feed.state()))
  const feeding = feeds[states.findIndex(({ isFeeding }) => isFeeding)]
  await feeding?.close()
  const others = feeds.filter((feed) => feed !== feeding)
  await rename(project.id, 'Shared Lantern Four')
  await Promise.all(others.map((feed) => feed.caughtUp()))
  for (const feed of others) assert.deepEqual(await feed.find('shared lantern'), ['Shared Lantern Four'])
  assert.deepEqual([await feeders(others), builds(feeds)], [1, 1])
})

test('a rebuild is done once for all, and each process knows when it is done', { skip }, async () => {
  const prefix = newPrefix()
  const project = await t.make.project({ name: 'Quiet Motif' })
  const feeds = [openFeed(prefix, sharedUrl()), openFeed(prefix, sharedUrl())]
  await Promise.all(feeds.map((feed) => feed.caughtUp()))
  await t.deps.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await tx.updateTable('project').set({ name: 'Secret Motif' }).where('id', '=', project.id).execute()
  })
  await requestRebuild(t.deps, SYSTEM)
  await Promise.all(feeds.map((feed) => feed.caughtUp()))
  for (const feed of feeds) assert.deepEqual(await feed.find('motif'), ['Secret Motif'])
  assert.equal(builds(feeds), 2)
})

test('a feeder that loses its connection stops, and one of the others takes its lease', { skip }, async () => {
  const prefix = newPrefix()
  const project = await t.make.project({ name: 'Torn Rope' })
  const feeds = [openFeed(prefix, sharedUrl()), openFeed(prefix, sharedUrl())]
  await Promise.all(feeds.map((feed) => feed.caughtUp()))
  for (let round = 1; round <= 3; round += 1) {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`feeder of ${prefix}`}`.execute(
      t.deps.db,
    )
    await rename(project.id, `Torn Rope ${round}`)
    await until(async () => (await feeders(feeds)) === 1)
    for (const feed of feeds) {
      await feed.caughtUp()
      assert.deepEqual(await feed.find('torn rope'), [`Torn Rope ${round}`])
    }
  }
  assert.equal(builds(feeds), 1)
})

test('an index that was removed is built again; until then searches are rejected with 503', { skip }, async () => {
  const prefix = newPrefix()
  await t.make.project({ name: 'Lost Anchor' })
  const feeds = [openFeed(prefix, sharedUrl()), openFeed(prefix, sharedUrl())]
  await Promise.all(feeds.map((feed) => feed.caughtUp()))
  const answer = await fetch(`${sharedUrl()}/_alias/${prefix}`)
  const [name] = Object.keys((await answer.json()) as object)
  assert.equal((await fetch(`${sharedUrl()}/${name}`, { method: 'DELETE' })).status, 200)
  for (const feed of feeds)
    await feed.find('lost anchor').catch((error) => assert.ok(isUnavailable(error), String(error)))
  for (const feed of feeds)
    await until(async () => (await feed.find('lost anchor').catch((): string[] => [])).includes('Lost Anchor'))
  await until(async () => builds(feeds) === 2)
})

test('while the engine hangs or rejects, searches return 503 quickly; later searches find all changes', {
  skip,
}, async () => {
  const project = await t.make.project({ name: 'Slow River' })
  const feed = openFeed(newPrefix(), proxy.url)
  await feed.caughtUp()
  for (const mode of ['refuse', 'hang'] as const) {
    proxy.become(mode)
    const startedAt = performance.now()
    await assert.rejects(feed.find('slow river'), isUnavailable)
    // The next calls fail immediately, without a timeout.
    const refusedAt = performance.now()
    for (let i = 0; i < 5; i += 1) await assert.rejects(feed.find('slow river'), isUnavailable)
    assert.ok(performance.now() - refusedAt < 4_000 && refusedAt - startedAt < 20_000)
    await rename(project.id, `Slow River ${mode}`)
    proxy.become('pass')
    await until(async () => (await feed.find('slow river').catch((): string[] => [])).includes(`Slow River ${mode}`))
  }
  proxy.delay(300)
  assert.deepEqual(await feed.find('slow river'), ['Slow River hang'])
  proxy.delay(0)
  await feed.caughtUp()
  assert.equal(builds([feed]), 1)
  assert.equal((await feed.state()).state, 'ready')
})

test('a stopped or killed engine is unavailable until it is back with all later changes', { skip }, async (context) => {
  const own = await startOwnOpenSearch()
  context.after(() => own.remove())
  const prefix = newPrefix()
  const project = await t.make.project({ name: 'Night Ferry' })
  const feed = openFeed(prefix, own.url)
  await feed.caughtUp()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await own.end(signal)
    await assert.rejects(feed.find('night ferry'), isUnavailable)
    assert.equal((await feed.state()).state, 'failing')
    await rename(project.id, `Night Ferry ${signal}`)
    await own.again()
    await until(async () =>
      (await feed.find('night ferry').catch((): string[] => [])).includes(`Night Ferry ${signal}`),
    )
  }
  assert.equal(builds([feed]), 1)
  // Before the feed: what it closes must still answer.
  await feed.close()
})
