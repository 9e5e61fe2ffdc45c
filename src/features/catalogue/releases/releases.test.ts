import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { releaseProject, releaseVersion } from './release-project.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()
const moderator = await t.make.account({ role: 'moderator' })
const fan = await t.make.account()

const inOneHour = (): string => new Date(t.deps.now() + HOUR_MS).toISOString()
/** Runs the schedule of a minute and the jobs that it creates. */
async function sweep(): Promise<void> {
  await t.runJob('releases.sweep')
  await t.runJobs()
}
const schedule = (project: MadeProject, person: Person, requested_status: string, scheduled_at = inOneHour()) =>
  t.as(person).patch(`/v3/project/${project.id}`, { status: 'scheduled', requested_status, scheduled_at })
const scheduleVersion = (id: string, requested_status: string, scheduled_at = inOneHour()) =>
  t.as(owner).patch(`/v3/version/${id}`, { status: 'scheduled', requested_status, scheduled_at })
const read = async (path: string, person: Person = owner) => (await t.as(person).get(path)).json()
const updates = async (person: Person, projectId: string): Promise<string[]> =>
  (await read(`/v3/user/${person.id}/notifications`, person))
    .filter(({ body }: { body: { project_id: string } }) => body.project_id === projectId)
    .map(({ body }: { body: { version_id: string } }) => body.version_id)
const statusMessages = async (project: MadeProject) => {
  const { thread_id } = await read(`/v3/project/${project.id}`)
  return (await read(`/v3/thread/${thread_id}`)).messages
    .filter(({ body }: { body: { type: string } }) => body.type === 'status_change')
    .map(({ body, author_id }: { body: { old_status: string; new_status: string }; author_id: string | null }) => [
      body.old_status,
      body.new_status,
      author_id,
    ])
}

test('a project of an hour hence is hidden until then, and public to everyone from the next minute on', async () => {
  const project = await t.make.project({ owner })
  const version = await t.make.version({ project })
  assert.equal((await schedule(project, owner, 'archived')).statusCode, 204)
  for (const path of [`/v3/project/${project.id}`, `/v3/version/${version.id}`])
    assertError(await t.anyone.get(path), 404, 'not_found')
  t.advance(HOUR_MS - 1000)
  await sweep()
  assert.equal((await read(`/v3/project/${project.id}`)).status, 'scheduled')
  t.advance(1000)
  await sweep()
  const released = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.equal(released.status, 'archived')
  assert.ok(Date.parse(released.updated) >= t.deps.now() - 10_000)
  assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 200)
  assert.deepEqual(await statusMessages(project), [
    ['approved', 'scheduled', owner.id],
    ['scheduled', 'archived', null],
  ])
  await sweep()
  assert.equal((await statusMessages(project)).length, 2, 'nothing happens twice')
})

test('a project that comes out for the first time is approved at that moment', async () => {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', project.id).execute()
  assertError(await schedule(project, owner, 'approved'), 403, 'unauthorized')
  assert.equal((await schedule(project, moderator, 'approved')).statusCode, 204)
  assert.equal((await read(`/v3/project/${project.id}`)).approved, null)
  t.advance(2 * HOUR_MS)
  await sweep()
  const { status, approved, updated } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([status, approved], ['approved', updated])
})

test('notifies followers of versions that were released while the project was hidden, and of no older ones', async () => {
  const project = await t.make.project({ owner })
  // Threads, which know since when it is hidden, take the database's time, not the test's.
  await t.make.version({ project, date_published: new Date(Date.now() - HOUR_MS) })
  await t.as(fan).post(`/v3/project/${project.id}/follow`)
  await schedule(project, owner, 'approved')
  const during = await t.make.version({ project, date_published: new Date(t.deps.now() + MINUTE_MS) })
  t.advance(2 * HOUR_MS)
  await sweep()
  assert.deepEqual(await updates(fan, project.id), [during.id])
})

test('a scheduled version is released on time, is listed afterwards, and its followers are notified once', async () => {
  const project = await t.make.project({ owner })
  await t.as(fan).post(`/v3/project/${project.id}/follow`)
  const version = await t.make.version({ project, status: 'draft' })
  const newer = await t.make.version({ project, date_published: new Date(t.deps.now() + MINUTE_MS) })
  const scheduled_at = inOneHour()
  assert.equal((await scheduleVersion(version.id, 'listed', scheduled_at)).statusCode, 204)
  const ids = async () =>
    (await t.anyone.get(`/v3/project/${project.id}/version`)).json().map(({ id }: { id: string }) => id)
  assert.deepEqual(await ids(), [newer.id])
  t.advance(HOUR_MS - 1000)
  await sweep()
  assertError(await t.anyone.get(`/v3/version/${version.id}`), 404, 'not_found')
  t.advance(1000)
  await sweep()
  assert.deepEqual(await ids(), [version.id, newer.id])
  const shown = (await t.anyone.get(`/v3/version/${version.id}`)).json()
  assert.deepEqual(
    [shown.status, shown.requested_status, shown.scheduled_at, shown.date_published],
    ['listed', null, null, scheduled_at],
  )
  const { updated, versions } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.ok(Date.parse(updated) >= Date.parse(scheduled_at))
  assert.ok(versions.includes(version.id))
  await sweep()
  assert.deepEqual(await updates(fan, project.id), [version.id])
})

test('a schedule that was moved or ended does not come true', async () => {
  const project = await t.make.project({ owner })
  const [moved, ended] = [
    await t.make.version({ project, status: 'draft' }),
    await t.make.version({ project, status: 'draft' }),
  ]
  for (const { id } of [moved, ended]) await scheduleVersion(id, 'unlisted')
  await scheduleVersion(moved.id, 'archived', new Date(t.deps.now() + 3 * HOUR_MS).toISOString())
  assert.equal((await t.as(owner).patch(`/v3/version/${ended.id}`, { status: 'draft' })).statusCode, 204)
  await schedule(project, owner, 'unlisted')
  await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'approved' })
  t.advance(2 * HOUR_MS)
  await sweep()
  assert.equal((await read(`/v3/project/${project.id}`)).status, 'approved')
  assert.equal((await read(`/v3/version/${ended.id}`)).status, 'draft')
  assert.equal((await read(`/v3/version/${moved.id}`)).status, 'scheduled')
  t.advance(2 * HOUR_MS)
  await sweep()
  assert.equal((await read(`/v3/version/${moved.id}`)).status, 'archived')
})

test('the target status of a schedule can be changed but not removed', async () => {
  const project = await t.make.project({ owner })
  const version = await t.make.version({ project, status: 'draft' })
  await scheduleVersion(version.id, 'listed')
  await schedule(project, owner, 'approved')
  for (const path of [`/v3/project/${project.id}`, `/v3/version/${version.id}`]) {
    const cleared = await t.as(owner).patch(path, { requested_status: null })
    assertError(cleared, 400, 'validation_error', 'requested_status')
    assert.equal((await t.as(owner).patch(path, { requested_status: 'unlisted' })).statusCode, 204)
  }
  t.advance(2 * HOUR_MS)
  await sweep()
  assert.equal((await read(`/v3/project/${project.id}`)).status, 'unlisted')
  assert.equal((await read(`/v3/version/${version.id}`)).status, 'unlisted')
})

test('exactly one of several concurrent processes releases each version', async () => {
  const projects = await Promise.all([1, 2, 3].map(() => t.make.project({ owner })))
  const versions = await Promise.all(projects.map((project) => t.make.version({ project, status: 'draft' })))
  for (const project of projects) await t.as(fan).post(`/v3/project/${project.id}/follow`)
  for (const { id } of versions) await scheduleVersion(id, 'listed')
  for (const project of projects) await schedule(project, owner, 'approved')
  t.advance(2 * HOUR_MS)
  const processes = [1, 2, 3].map(() => ({ ...t.deps, cache: createEntityCache({ maxBytes: 1000 }) }))
  const releases = await Promise.all(
    processes.flatMap((deps) => [
      ...projects.map(({ id }) => releaseProject(deps, id)),
      ...versions.map(({ id }) => releaseVersion(deps, id)),
    ]),
  )
  assert.equal(releases.filter((released) => released).length, 6)
  // This process would receive the change only by listening, which it does not do here.
  t.deps.cache.clear()
  await t.runJobs()
  for (const [index, project] of projects.entries()) {
    assert.equal((await statusMessages(project)).length, 2)
    assert.deepEqual(await updates(fan, project.id), [versions[index]?.id])
  }
})

test('a job waits for the moment, and scheduling again replaces it', async () => {
  const project = await t.make.project({ owner })
  const version = await t.make.version({ project, status: 'draft' })
  await scheduleVersion(version.id, 'listed')
  const at = new Date(t.deps.now() + 5 * HOUR_MS)
  await scheduleVersion(version.id, 'listed', at.toISOString())
  const { rows } = await t.deps.pool.query('select run_at from graphile_worker.jobs where key = $1', [
    `release-version:${version.id}`,
  ])
  assert.deepEqual(
    rows.map(({ run_at }) => run_at.getTime() - at.getTime()),
    [1000],
  )
})
