// The counters in the database agree with the events in the store: per batch, after crashes, losses and restores.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { DAY_MS } from '#lib/time.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { listenForInvalidations } from '#platform/cache/listen.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { aDownload, batchOf, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import { CounterFollower } from './counter-follower.ts'
import { applyBatches, catchUp, type LedgerDeps, openCounterLedger, readLedger } from './counter-ledger.ts'
import { reconcileDownloads } from './reconcile-downloads.ts'
import { showDownloads } from './show-downloads.ts'

const t = await testApp()
after(() => t.close())

/** A project with a version, and a store that the counters follow from now on. */
async function setUp() {
  const store = openNaiveStore()
  const project = await t.make.project()
  const version = await t.make.version({ project })
  await openCounterLedger(t.deps, store)
  // Other tests' stores have left the ledger, and their projects, behind.
  await reconcileDownloads({ ...t.deps, store })
  const event = aDownload({ project_id: project.id, version_id: version.id })
  /** Stores downloads, as a process that dies before they are counted. */
  const append = async (count: number) => {
    const batch = batchOf(times(count, () => event))
    await store.append('download', batch)
    return new Map([[batch.id, [{ project_id: project.id, version_id: version.id, downloads: count }]]])
  }
  return { store, project, version, event, append, deps: { ...t.deps, store } }
}

const count = async (deps: LedgerDeps & { store: AnalyticsStore }) => {
  await catchUp(deps)
  await showDownloads(deps, { now: true })
}

const downloadsOf = async ({ id }: { id: string }): Promise<number> =>
  (await t.anyone.get(`/v3/project/${id}`)).json().downloads

test('a stored batch moves project and version, and an answer is never older', async () => {
  const { project, version, event, deps } = await setUp()
  assert.equal(await downloadsOf(project), 0)
  const follower = new CounterFollower(deps)
  await follower.sink.append('download', batchOf([event, event, event]))
  await follower.sink.settled()
  assert.equal(await downloadsOf(project), 3)
  assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().downloads, 3)
  await follower.close()
})

test('counts events that a crash left between the stores once, also with several concurrent processes', async () => {
  const { project, append, deps } = await setUp()
  for (let i = 0; i < 45; i += 1) await append(2)
  await Promise.all([catchUp(deps), catchUp(deps), catchUp(deps)])
  await count(deps)
  assert.equal(await downloadsOf(project), 90)
  await count(deps)
  assert.equal(await downloadsOf(project), 90)
})

test('a batch that comes late, twice, or from two processes at once is counted once', async () => {
  const { project, append, deps } = await setUp()
  const [first, second, third] = [await append(1), await append(10), await append(100)]
  await applyBatches(deps, third)
  await Promise.all([applyBatches(deps, second), applyBatches(deps, new Map([...second, ...first])), catchUp(deps)])
  await applyBatches(deps, first)
  await count(deps)
  await applyBatches(deps, new Map([...first, ...second, ...third]))
  await count(deps)
  assert.equal(await downloadsOf(project), 111)
})

test('the ledger moves on with the store, and forgets batches only days later', async () => {
  const { append, deps, store } = await setUp()
  const [[id] = []] = [...(await append(1))]
  await catchUp(deps)
  const find = () =>
    t.deps.db.selectFrom('download_batch').select('is_passed').where('id', '=', String(id)).executeTakeFirst()
  assert.deepEqual(await find(), { is_passed: true })
  assert.ok((await readLedger(t.deps.db)).caught_up_to > ((await store.listBatches({ from: 0 })).at(-1)?.storedAt ?? 0))
  const applied = new Date(Date.now() - 4 * DAY_MS)
  await t.deps.db.updateTable('download_batch').set({ applied }).where('id', '=', String(id)).execute()
  await catchUp(deps)
  assert.equal(await find(), undefined)
})

test('a database that fails for a moment is caught up with by the next batch', async () => {
  const { project, event, deps } = await setUp()
  const broken = { ...deps.db, transaction: () => assert.fail('away') } as unknown as LedgerDeps['db']
  const flaky = { ...deps, db: broken }
  const follower = new CounterFollower(flaky)
  await follower.sink.append('download', batchOf(times(5, () => event)))
  await follower.sink.settled()
  flaky.db = deps.db
  await follower.sink.append('download', batchOf([event]))
  await follower.sink.settled()
  assert.equal(await downloadsOf(project), 6)
  await follower.close()
})

test('while a transaction locks a project, its downloads are stored and those of other projects are visible', async () => {
  const [held, free] = [await setUp(), await setUp()]
  const store = free.store
  const follower = new CounterFollower(free.deps)
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = t.deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('project').select('id').where('id', '=', held.project.id).forUpdate().execute()
    locked.resolve()
    await release.promise
  })
  await locked.promise
  await follower.sink.append('download', batchOf([held.event, free.event]))
  await follower.sink.append('download', batchOf([held.event]))
  await follower.sink.settled()
  assert.deepEqual((await store.countDownloads({ projectIds: [held.project.id] })).projects, [
    { project_id: held.project.id, downloads: 2 },
  ])
  assert.deepEqual([await downloadsOf(held.project), await downloadsOf(free.project)], [0, 1])
  assert.deepEqual(await reconcileDownloads(free.deps), { projects: 0, versions: 0 }, 'pending events are not drift')
  release.resolve()
  await holding
  // Shown by itself, within seconds of the release.
  for (;;) {
    if ((await downloadsOf(held.project)) === 2) break
    await sleep(50)
  }
  assert.deepEqual([await downloadsOf(held.project), await downloadsOf(free.project)], [2, 1])
  await follower.close()
})

test('storing waits for nothing, not even for a database that holds every counter', async () => {
  const { project, event, deps, store } = await setUp()
  const follower = new CounterFollower(deps)
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = t.deps.db.transaction().execute(async (tx) => {
    await sql`lock table download_pending, download_batch in access exclusive mode`.execute(tx)
    locked.resolve()
    await release.promise
  })
  await locked.promise
  for (let i = 0; i < 5; i += 1) await follower.sink.append('download', batchOf([event]))
  assert.equal((await store.countDownloads({ projectIds: [project.id] })).projects[0]?.downloads, 5)
  release.resolve()
  await holding
  await follower.sink.settled()
  assert.equal(await downloadsOf(project), 5)
  await follower.close()
})

test('counters are shown at most so often, by all processes together, and never later than asked', async () => {
  const { project, append, deps } = await setUp()
  await applyBatches(deps, await append(1))
  await showDownloads(deps, { now: true })
  await applyBatches(deps, await append(1))
  const { queries } = await t.queriesOf(async () => {
    const again = await showDownloads(deps, { now: false })
    assert.equal(again.isAll, false)
    assert.ok(again.pauseMs > 0 && again.pauseMs <= 60_000)
  })
  assert.equal(await downloadsOf(project), 1)
  assert.ok(!queries.some((query) => query.startsWith('update project')))
  await t.deps.db
    .updateTable('download_ledger')
    .set({ show_after: new Date(0) })
    .execute()
  await Promise.all([showDownloads(deps, { now: false }), showDownloads(deps, { now: false })])
  await showDownloads(deps, { now: true })
  assert.equal(await downloadsOf(project), 2)
})

test('counting updates cached views with new numbers and ETags, in this process and in others', async () => {
  const { project, version, append, deps } = await setUp()
  const other = createEntityCache({ maxBytes: 1_000_000 })
  const seen = Promise.withResolvers<void>()
  const listener = listenForInvalidations({
    connect: async () => {
      const client = new pg.Client(t.deps.pool.options)
      await client.connect()
      return client
    },
    pool: t.deps.pool,
    cache: {
      ...other,
      recount: (counts) => {
        other.recount(counts)
        if (counts.get('project')?.has(project.id)) seen.resolve()
      },
    },
    log: t.deps.log,
  })
  await listener.ready
  const reader = { ...t.deps, cache: other }
  const paths = [
    `/v3/project/${project.id}`,
    `/v3/version/${version.id}`,
    `/v3/version/${version.id}?include_changelog=false`,
  ]
  const tags = await Promise.all(paths.map(async (path) => (await t.anyone.get(path)).headers.etag))
  await getProject(reader, null, project.id)
  await applyBatches(deps, await append(5))
  await showDownloads(deps, { now: true })
  for (const [index, path] of paths.entries()) {
    const { result, queries } = await t.queriesOf(() => t.anyone.get(path))
    assert.equal(result.json().downloads, 5)
    assert.notEqual(result.headers.etag, tags[index])
    assert.deepEqual(queries, [], path)
  }
  await seen.promise
  const { result: elsewhere, queries } = await t.queriesOf(() => getProject(reader, null, project.id))
  assert.equal(JSON.parse(String(elsewhere.bytes)).downloads, 5)
  assert.deepEqual(queries, [])
  await listener.stop()
  // An edit continues with the new counter.
  await t.as(project.owner).patch(`/v3/project/${project.id}`, { name: 'Edited after counting' })
  const edited = (await t.anyone.get(paths[0] ?? '')).json()
  assert.deepEqual([edited.name, edited.downloads], ['Edited after counting', 5])
})

test('batches of deleted versions change nothing else', async () => {
  const { project, version, append, deps } = await setUp()
  await t.as(project.owner).delete(`/v3/version/${version.id}`)
  await append(4)
  await count(deps)
  assert.equal(await downloadsOf(project), 4, 'a project keeps the downloads of versions it has deleted')
  await t.as(project.owner).delete(`/v3/project/${project.id}`)
  await append(4)
  await count(deps)
  const left = await t.deps.db.selectFrom('download_pending').selectAll().execute()
  assert.deepEqual(left, [])
})

test('finds, reports and corrects drift once; initial counts of a row are not drift', async () => {
  const { project, version, append, deps } = await setUp()
  await append(7)
  await count(deps)
  const imported = await t.make.project()
  await t.deps.db.deleteFrom('project').where('id', '=', imported.id).execute()
  const row = { id: imported.id, slug: imported.slug, name: 'x', summary: 'x', description: '', license: 'MIT' }
  await t.deps.db
    .insertInto('project')
    .values({ ...row, status: 'approved', team_id: imported.teamId, downloads: 1_000 })
    .execute()
  assert.deepEqual(await reconcileDownloads(deps), { projects: 0, versions: 0 })
  await t.deps.db.updateTable('project').set({ downloads: 10 }).where('id', '=', project.id).execute()
  await t.deps.db.updateTable('version').set({ downloads: 5 }).where('id', '=', version.id).execute()
  assert.deepEqual(await reconcileDownloads(deps), { projects: 3, versions: 2 })
  assert.equal(await downloadsOf(project), 7)
  assert.deepEqual(await reconcileDownloads(deps), { projects: 0, versions: 0 })
  assert.equal(await downloadsOf(imported), 1_000)
})

test('a lost store removes no downloads, and counting continues', async () => {
  const { project, append, event, deps } = await setUp()
  await append(9)
  await count(deps)
  const fresh = { ...deps, store: openNaiveStore() }
  await openCounterLedger(t.deps, fresh.store)
  await fresh.store.append('download', batchOf([event]))
  await count(fresh)
  assert.equal(await downloadsOf(project), 10)
  await reconcileDownloads(fresh)
  assert.deepEqual(await reconcileDownloads(fresh), { projects: 0, versions: 0 })
  assert.equal(await downloadsOf(project), 10)
})

test('a store put back from an older copy is followed from there on', async () => {
  const { project, append, event, deps, store } = await setUp()
  await append(1)
  await append(1)
  await count(deps)
  const copy = { ...deps, store: { ...openNaiveStore(), identity: store.identity } }
  await copy.store.append('download', batchOf([event]))
  await openCounterLedger(t.deps, copy.store)
  await copy.store.append('download', batchOf([event]))
  await count(copy)
  assert.equal(await downloadsOf(project), 3)
  await reconcileDownloads(copy)
  assert.equal(await downloadsOf(project), 3)
})

test('the same store attached again, by any number of processes, changes nothing', async () => {
  const { append, deps, store } = await setUp()
  await append(1)
  await count(deps)
  await append(1)
  const before = await readLedger(t.deps.db)
  await Promise.all([openCounterLedger(t.deps, store), openCounterLedger(t.deps, store)])
  assert.deepEqual(await readLedger(t.deps.db), before)
})

test('two processes with separate stores and one database both continue to count, and neither reconciles the other', async () => {
  const first = await setUp()
  await openCounterLedger(t.deps, openNaiveStore())
  const follower = new CounterFollower(first.deps)
  await follower.sink.append('download', batchOf([first.event, first.event]))
  await follower.sink.settled()
  assert.equal(await downloadsOf(first.project), 2)
  assert.equal(await reconcileDownloads(first.deps), undefined)
  assert.equal(await downloadsOf(first.project), 2)
  await follower.close()
})

test('the nightly job shows the drift as a metric', async () => {
  const own = await testApp()
  try {
    const project: MadeProject = await own.make.project()
    await own.deps.events.flush()
    await own.deps.db.updateTable('project').set({ downloads: 4 }).where('id', '=', project.id).execute()
    await own.deps.db.transaction().execute((tx) => enqueue(tx, 'downloads.reconcile', {}))
    await own.runJobs()
    const metrics = (await own.anyone.get('/metrics')).body
    assert.match(metrics, /depot_download_drift\{of="project"\} 4/)
    assert.match(metrics, /depot_analytics_pending_events\{kind="download"\} 0/)
    assert.match(metrics, /depot_analytics_events_total\{kind="download",outcome="lost"\} 0/)
    assert.equal((await own.anyone.get(`/v3/project/${project.id}`)).json().downloads, 0)
  } finally {
    await own.close()
  }
})
