// The counters in the database against the events in the store: batch by batch, over crashes, losses and restores.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { enqueue } from '#jobs/queue.ts'
import { aDownload, times } from '#test/support/analytics-events.ts'
import type { MadeProject } from '#test/support/factories.ts'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { openNaiveStore } from '#test/support/reference-analytics-store.ts'
import { createCounterFollower } from './counter-follower.ts'
import { attachStore, catchUp, readLedger } from './counter-ledger.ts'
import { reconcileDownloads } from './reconcile-downloads.ts'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t.close())

/** A project with a version, and a store that the counters follow from now on. */
async function setUp() {
  const store = openNaiveStore()
  const project = await t.make.project()
  const version = await t.make.version({ project })
  await attachStore(t.deps, store)
  // Other tests' stores have left the ledger, and their projects, behind.
  await reconcileDownloads({ ...t.deps, store })
  const event = aDownload({ project_id: project.id, version_id: version.id })
  const append = async (count: number) => {
    const { sequence } = await store.append(
      'download',
      times(count, () => event),
    )
    const versions = [{ project_id: project.id, version_id: version.id, downloads: count }]
    return { sequence, versions, projects: [{ project_id: project.id, downloads: count }] }
  }
  return { store, project, version, append, deps: { ...t.deps, store } }
}

const downloadsOf = async ({ id }: { id: string }): Promise<number> =>
  (await t.anyone.get(`/v3/project/${id}`)).json().downloads

test('a batch moves project, version and ledger together, and an answer is never older', async () => {
  const { project, version, append, deps, store } = await setUp()
  assert.equal(await downloadsOf(project), 0)
  const follower = createCounterFollower(deps)
  await follower.follow(await append(3))
  assert.equal(await downloadsOf(project), 3)
  assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().downloads, 3)
  assert.equal((await readLedger(t.deps.db)).applied, await store.lastSequence())
  await follower.close()
})

test('what a crash left between the stores is taken in once, also by several processes at once', async () => {
  const { project, append, deps } = await setUp()
  for (let i = 0; i < 45; i += 1) await append(2)
  await Promise.all([catchUp(deps), catchUp(deps), catchUp(deps)])
  assert.equal(await downloadsOf(project), 90)
  await catchUp(deps)
  assert.equal(await downloadsOf(project), 90)
})

test('a batch that comes late, twice, or after others is counted once', async () => {
  const { project, append, deps } = await setUp()
  const [first, second, third] = [await append(1), await append(10), await append(100)]
  await catchUp(deps, third)
  await catchUp(deps, second)
  await catchUp(deps, first)
  await catchUp(deps, first)
  assert.equal(await downloadsOf(project), 111)
})

test('a database that fails for a moment is caught up with by the next batch', async () => {
  const { project, append, deps } = await setUp()
  let isAway = true
  const store = {
    ...deps.store,
    identity: async () => {
      if (isAway) throw new Error('away')
      return deps.store.identity()
    },
  }
  const follower = createCounterFollower({ ...deps, store })
  await assert.rejects(follower.follow(await append(5)))
  isAway = false
  await follower.follow(await append(1))
  assert.equal(await downloadsOf(project), 6)
  await follower.close()
})

test('batches of versions that are gone change nothing else', async () => {
  const { project, version, append, deps } = await setUp()
  await t.as(project.owner).delete(`/v3/version/${version.id}`)
  await catchUp(deps, await append(4))
  assert.equal(await downloadsOf(project), 4, 'a project keeps the downloads of versions it has deleted')
  await t.as(project.owner).delete(`/v3/project/${project.id}`)
  await catchUp(deps, await append(4))
})

test('drift is found, reported and put right once; what a row was made with is no drift', async () => {
  const { project, version, append, deps } = await setUp()
  await catchUp(deps, await append(7))
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

test('a store that was lost takes no download away, and counting goes on', async () => {
  const { project, append, deps } = await setUp()
  await catchUp(deps, await append(9))
  const fresh = openNaiveStore()
  await attachStore(t.deps, fresh)
  const event = aDownload({ project_id: project.id })
  await fresh.append('download', [event])
  await catchUp({ ...deps, store: fresh })
  assert.equal(await downloadsOf(project), 10)
  await reconcileDownloads({ ...deps, store: fresh })
  assert.deepEqual(await reconcileDownloads({ ...deps, store: fresh }), { projects: 0, versions: 0 })
  assert.equal(await downloadsOf(project), 10)
})

test('a store put back from an older copy is followed from there on', async () => {
  const { project, version, append, deps, store } = await setUp()
  await catchUp(deps, await append(1))
  const older = openNaiveStore()
  const copy = { ...older, identity: store.identity }
  await catchUp(deps, await append(1))
  const event = aDownload({ project_id: project.id, version_id: version.id })
  await copy.append('download', [event])
  await attachStore(t.deps, copy)
  const { sequence } = await copy.append('download', [event])
  assert.ok(sequence <= 2, 'numbers that were used before are used again')
  await catchUp({ ...deps, store: copy })
  assert.equal(await downloadsOf(project), 3)
})

test('two processes with a store each behind one database both go on counting, and neither reconciles the other', async () => {
  const first = await setUp()
  const other = openNaiveStore()
  await attachStore(t.deps, other)
  await catchUp(first.deps, await first.append(2))
  assert.equal(await downloadsOf(first.project), 2)
  assert.equal(await reconcileDownloads(first.deps), undefined)
  assert.equal(await downloadsOf(first.project), 2)
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
