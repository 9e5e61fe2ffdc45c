// The index follows the database, with any writer, any order of commits and any failure.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import pg from 'pg'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import { parseSearchRequest } from '#features/reading/search/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { listenForInvalidations } from '#platform/cache/listen.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import type { SearchIndex } from '#ports/search-index/search-index.ts'
import { databaseUrl } from '#test/support/app/database.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { acquireIndexFolder } from './index-folder.ts'
import { createSearchFeed, type SearchFeed, type SearchFeedOptions } from './search-feed.ts'

let t: TestApp
let root: string
before(async () => {
  t = await testApp()
  root = await mkdtemp(join(tmpdir(), 'depot-search-'))
})
after(async () => {
  await t.close()
  await rm(root, { recursive: true, force: true })
})
let folder: string
let folders = 0
let opened: SearchFeed[] = []
beforeEach(() => {
  folders += 1
  folder = join(root, `index-${folders}`)
})
afterEach(async () => {
  for (const feed of opened) await feed.close()
  opened = []
})

type Opened = SearchFeed & { workers: Worker[]; messages: string[]; find(text: string): Promise<string[]> }

/** Opens a separate feed, as each process does, with its log and the threads that it starts. */
function openFeed(options: Partial<SearchFeedOptions> & { wrap?: (index: SearchIndex) => SearchIndex } = {}): Opened {
  const workers: Worker[] = []
  const messages: string[] = []
  const log = silentLog()
  const note = (...parts: unknown[]) => void messages.push(String(parts.at(-1)))
  Object.assign(log, { info: note, warn: note, error: note })
  const feed = createSearchFeed({
    db: t.deps.db,
    taxonomy: t.deps.taxonomy,
    log,
    pollMs: 10,
    leases: { acquire: () => acquireIndexFolder(folder) },
    openIndex: async (indexOptions) => {
      const index = await openEmbeddedSearchIndex({
        ...indexOptions,
        startWorker: (workerData) => {
          const worker = new Worker(new URL('../embedded/worker.ts', import.meta.url), { workerData })
          workers.push(worker)
          return worker
        },
      })
      return options.wrap?.(index) ?? index
    },
    ...options,
  })
  opened.push(feed)
  const find = (text: string) => findIn(feed, text)
  return Object.assign(feed, { workers, messages, find })
}

async function findIn(feed: SearchFeed, text: string): Promise<string[]> {
  const { body } = await feed.search(parseSearchRequest({ query: text, limit: 100 }))
  return JSON.parse(Buffer.from(body).toString()).hits.map(({ name }: { name: string }) => name)
}

const rename = (id: string, name: string) =>
  t.deps.db.updateTable('project').set({ name }).where('id', '=', id).execute()
const builds = ({ messages }: Opened) => messages.filter((message) => message.startsWith('Built')).length
const isSearchError = (error: unknown) => error instanceof ApiError && error.error === 'search_error'

/** Waits for what another process, or a timer, is to bring about. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 10 * MINUTE_MS
  while (!(await holds())) {
    // A loop without an end would keep the process alive after its test has failed.
    assert.ok(performance.now() < end, 'it did not come about within ten minutes')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('two processes on one database both follow what either writes, with invalidation messages or without', async () => {
  const listening = openFeed({ pollMs: 60_000 })
  const deaf = openFeed()
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(t.deps.db)
  const listener = listenForInvalidations({
    connect: async () => {
      const client = new pg.Client({ connectionString: databaseUrl(rows[0]?.name ?? '') })
      await client.connect()
      return client
    },
    pool: t.deps.pool,
    cache: t.deps.cache,
    log: silentLog(),
    subscribers: listening.subscribers,
  })
  await listener.ready
  await Promise.all([listening.caughtUp(), deaf.caughtUp()])
  const project = await t.make.project({ name: 'Common Ground' })
  const owner = t.as(project.owner)
  for (const name of ['Second Ground', 'Third Ground']) {
    assert.equal((await owner.patch(`/v3/project/${project.id}`, { name })).statusCode, 204)
    await until(async () => (await listening.find('ground')).includes(name))
    await until(async () => (await deaf.find('ground')).includes(name))
  }
  await listener.stop()
  t.deps.cache.enable()
})

test('includes a late commit even after a later transaction', async () => {
  const feed = openFeed()
  const [early, late] = [await t.make.project({ name: 'Early Order' }), await t.make.project({ name: 'Late Order' })]
  await feed.caughtUp()
  const goOn = Promise.withResolvers<void>()
  const hasWritten = Promise.withResolvers<void>()
  const slow = t.deps.db.transaction().execute(async (tx) => {
    await tx.updateTable('project').set({ name: 'Early Order Changed' }).where('id', '=', early.id).execute()
    hasWritten.resolve()
    await goOn.promise
  })
  await hasWritten.promise
  await rename(late.id, 'Late Order Changed')
  await feed.caughtUp()
  assert.deepEqual((await feed.find('order')).sort(), ['Early Order', 'Late Order Changed'])
  goOn.resolve()
  await slow
  await feed.caughtUp()
  assert.deepEqual((await feed.find('order')).sort(), ['Early Order Changed', 'Late Order Changed'])
})

test('the change log has one row per project and nothing from transactions that were rolled back', async () => {
  const [project, other] = [await t.make.project({ name: 'Log Keeper' }), await t.make.project({ name: 'Held Open' })]
  const rows = () => t.deps.db.selectFrom('search_change').selectAll().where('project_id', '=', project.id).execute()
  const goOn = Promise.withResolvers<void>()
  const hasWritten = Promise.withResolvers<void>()
  // It began before everything below, and still runs: that keeps no row alive.
  const slow = t.deps.db.transaction().execute(async (tx) => {
    await tx.updateTable('project').set({ name: 'Held Open Long' }).where('id', '=', other.id).execute()
    hasWritten.resolve()
    await goOn.promise
  })
  await hasWritten.promise
  for (let i = 0; i < 20; i += 1) await rename(project.id, `Log Keeper ${i}`)
  await Promise.all(Array.from({ length: 10 }, (_, i) => rename(project.id, `Log Keeper parallel ${i}`)))
  await rename(project.id, 'Log Keeper again')
  const kept = await rows()
  assert.equal(kept.length, 1)
  goOn.resolve()
  await slow
  const rolledBack = t.deps.db.transaction().execute(async (tx) => {
    await tx.updateTable('project').set({ name: 'Never' }).where('id', '=', project.id).execute()
    throw new Error('no')
  })
  await assert.rejects(rolledBack)
  assert.deepEqual(await rows(), kept)
})

test('a restart continues from the saved index and adds later changes', async () => {
  const [kept, renamed, gone] = [
    await t.make.project({ name: 'Restart Kept' }),
    await t.make.project({ name: 'Restart Renamed' }),
    await t.make.project({ name: 'Restart Gone' }),
  ]
  const first = openFeed()
  await first.caughtUp()
  await first.close()
  await rename(renamed.id, 'Restart Anew')
  await t.deps.db.deleteFrom('project').where('id', '=', gone.id).execute()
  const second = openFeed()
  await second.caughtUp()
  assert.deepEqual((await second.find('restart')).sort(), ['Restart Anew', 'Restart Kept'])
  assert.deepEqual([builds(first), builds(second), kept.slug === ''], [1, 0, false])
})

test('an index that is damaged, of another database or of another taxonomy is rebuilt', async () => {
  await t.make.project({ name: 'Rebuilt Anyway' })
  const first = openFeed()
  await first.caughtUp()
  await first.close()
  const note = join(folder, '0', 'followed.json')
  const saved = JSON.parse(await readFile(note, 'utf8'))
  const index = await readFile(join(folder, '0', 'index'))
  const damages: [string, () => Promise<void>][] = [
    ['damaged', () => writeFile(join(folder, '0', 'index'), index.subarray(0, index.length - 9))],
    ['without a note', () => rm(note)],
    ['of another database', () => writeFile(note, JSON.stringify({ ...saved, database: '1.2.3' }))],
    ['from before a restore', () => writeFile(note, JSON.stringify({ ...saved, snapshot: '9999999:9999999:' }))],
    ['of another basis', () => writeFile(note, JSON.stringify({ ...saved, basis: 'old' }))],
  ]
  for (const [what, damage] of damages) {
    await damage()
    const feed = openFeed()
    await feed.caughtUp()
    assert.deepEqual([await feed.find('rebuilt anyway'), builds(feed)], [['Rebuilt Anyway'], 1], what)
    await feed.close()
  }
})

test('an index whose database is replaced by an older state of it while it runs is rebuilt', async () => {
  const project = await t.make.project({ name: 'Harbour Before' })
  const feed = openFeed()
  await feed.caughtUp()
  // After a restore, the table of changes is a different one and does not contain the differences.
  await t.deps.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`alter table search_change rename to search_change_before`.execute(tx)
    await sql`create table search_change (like search_change_before including all)`.execute(tx)
    await tx.updateTable('project').set({ name: 'Harbour Restored' }).where('id', '=', project.id).execute()
  })
  await until(async () => (await feed.find('harbour')).includes('Harbour Restored'))
  await rename(project.id, 'Harbour After')
  await feed.caughtUp()
  assert.deepEqual([await feed.find('harbour'), builds(feed)], [['Harbour After'], 2])
  await assert.rejects(
    feed.close().then(() => feed.caughtUp()),
    isSearchError,
  )
})

test('a dead thread is replaced, and nothing that came before or after its death is missing', async () => {
  const project = await t.make.project({ name: 'Phoenix One' })
  const feed = openFeed()
  await feed.caughtUp()
  await rename(project.id, 'Phoenix Two')
  await feed.caughtUp()
  await feed.workers.at(-1)?.terminate()
  await assert.rejects(feed.find('phoenix'), isSearchError)
  assert.equal((await feed.state()).state, 'failing')
  await rename(project.id, 'Phoenix Three')
  await until(async () => (await feed.find('phoenix three').catch(() => [])).length === 1)
  assert.deepEqual([await feed.find('phoenix'), feed.workers.length], [['Phoenix Three'], 2])
  await feed.caughtUp()
  assert.equal((await feed.state()).state, 'ready')
})

test('a thread that dies before its index was ever saved builds it again', async () => {
  await t.make.project({ name: 'Ember' })
  const feed = openFeed({ wrap: (index) => ({ ...index, checkpoint: () => Promise.reject(new Error('disk full')) }) })
  feed.start()
  await until(async () => (await feed.find('ember').catch(() => [])).length === 1)
  await feed.workers.at(-1)?.terminate()
  await until(async () => builds(feed) === 2)
  assert.deepEqual(await feed.find('ember'), ['Ember'])
})

test('a rebuild adds changes that the log does not contain, and search remains available', async () => {
  const feed = openFeed()
  await feed.caughtUp()
  const project = await t.make.project({ name: 'Silent Motif' })
  await feed.caughtUp()
  await t.deps.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await tx.updateTable('project').set({ name: 'Secret Motif' }).where('id', '=', project.id).execute()
  })
  await feed.caughtUp()
  assert.deepEqual(await feed.find('motif'), ['Silent Motif'])
  let isDone = false
  const asking = (async () => {
    for (let asked = 0; ; asked += 1) {
      const found = await feed.find('motif')
      assert.equal(found.length, 1)
      if (isDone) return asked
    }
  })()
  await requestRebuild(t.deps, SYSTEM)
  await rename((await t.make.project({ name: 'While Building' })).id, 'While Built')
  await feed.caughtUp()
  isDone = true
  assert.ok((await asking) > 0)
  assert.deepEqual([await feed.find('motif'), await feed.find('while')], [['Secret Motif'], ['While Built']])
})

test('a project that the index rejects keeps no other one out', async () => {
  const bad = await t.make.project({ name: 'Stumbling Block' })
  const refuse = async (index: SearchIndex, changes: Parameters<SearchIndex['apply']>[0]) => {
    if (changes.some((change) => change.kind === 'upsert' && change.document.id === bad.id)) throw new Error('refused')
    await index.apply(changes)
  }
  const feed = openFeed({ wrap: (index) => ({ ...index, apply: (changes) => refuse(index, changes) }) })
  await feed.caughtUp()
  await t.deps.db.transaction().execute(async (tx) => {
    await tx.updateTable('project').set({ name: 'Stumbling Still' }).where('id', '=', bad.id).execute()
  })
  await t.make.project({ name: 'Stumbling Not' })
  await feed.caughtUp()
  assert.deepEqual(await feed.find('stumbling'), ['Stumbling Not'])
  assert.ok(feed.messages.includes(`Could not index project ${bad.id}`))
})

test('a rebuild that fails is reported and tried again', async () => {
  let failures = 2
  const feed = openFeed({
    rebuildRetryMs: 1,
    wrap: (index) => ({
      ...index,
      rebuild: async (open) => {
        failures -= 1
        if (failures >= 0) throw new Error('out of luck')
        await index.rebuild(open)
      },
    }),
  })
  await assert.rejects(feed.caughtUp(), /out of luck/u)
  await until(async () => (await feed.state()).state === 'ready')
  assert.equal(feed.messages.filter((message) => message.includes('Could not build')).length, 2)
})

test('processes that share a data folder have an index folder each, and a dead one leaves it to the next', async () => {
  const [a, b] = [await acquireIndexFolder(folder), await acquireIndexFolder(folder)]
  assert.notEqual(a?.snapshotFile, b?.snapshotFile)
  assert.equal(await acquireIndexFolder(folder, 2), undefined)
  await a?.release()
  assert.equal((await acquireIndexFolder(folder, 1))?.snapshotFile, a?.snapshotFile)
})

test('without an index search answers 500 search_error, /ready says so, and nothing else suffers', async (context) => {
  const search = createSearchFeed({
    db: t.deps.db,
    taxonomy: t.deps.taxonomy,
    log: silentLog(),
    pollMs: 5,
    leases: { acquire: () => Promise.reject(new Error('The disk failed')) },
    openIndex: () => Promise.reject(new Error('not reached')),
  })
  const broken = await testApp({ deps: () => ({ search }) })
  // Also when this test fails: an open one keeps the process alive.
  context.after(async () => {
    await broken.close()
    await search.close()
  })
  const project = await broken.make.project()
  const answer = await broken.anyone.get('/v3/search')
  assert.deepEqual([answer.statusCode, answer.json().error], [500, 'search_error'])
  assert.equal((await broken.anyone.get(`/v3/project/${project.slug}`)).statusCode, 200)
  const ready = await broken.anyone.get('/ready')
  assert.deepEqual([ready.statusCode, ready.json().dependencies.search], [200, { status: 'degraded' }])
})
