import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { type FollowerBatch, notifyFollowers } from './queries.ts'

const { t, make } = await teamApp()

type Notified = { id: string; body: { type: string; version_id?: string } }
const notificationsOf = async (person: Person): Promise<Notified[]> =>
  (await t.as(person).get(`/v3/user/${person.id}/notifications`)).json()
const announce = async (versionId: string): Promise<void> => {
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'versions.notify-followers', { version_id: versionId }))
  await t.runJobs()
}

test('notifies only followers of a new version, once, however often the job runs', async () => {
  const [owner, fan, other, stranger] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account(),
    t.make.account(),
  ])
  const project = await make.project(owner)
  for (const person of [fan, other]) await t.as(person).post(`/v3/project/${project.id}/follow`)
  const version = await make.version(project.id, owner)
  await announce(version)
  await announce(version)
  for (const person of [fan, other]) {
    const [notification, ...rest] = await notificationsOf(person)
    assert.deepEqual(rest, [])
    assert.deepEqual(notification?.body, { type: 'project_update', project_id: project.id, version_id: version })
    assert.match(notification?.id ?? '', /^[0-9A-Za-z]{8}$/)
  }
  assert.deepEqual(await notificationsOf(stranger), [])
  const next = await make.version(project.id, owner)
  await announce(next)
  assert.deepEqual(
    (await notificationsOf(fan)).map(({ body }) => body.version_id),
    [next, version],
    'newest first',
  )
  assert.deepEqual(await t.mails(), [])
})

test('notifies no one of a version that is unlisted, hidden or deleted when the job runs', async () => {
  const [owner, fan] = await Promise.all([t.make.account(), t.make.account()])
  const project = await make.project(owner)
  await t.as(fan).post(`/v3/project/${project.id}/follow`)
  for (const status of ['draft', 'unlisted', 'archived', 'scheduled'])
    await announce(await make.version(project.id, owner, status))
  await announce('zzzzzzzz')
  await t.deps.db.updateTable('project').set({ status: 'private' }).where('id', '=', project.id).execute()
  await announce(await make.version(project.id, owner))
  assert.deepEqual(await notificationsOf(fan), [])
})

test('batches walk through all followers, one statement each', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const version = await make.version(project.id, owner)
  await sql`insert into account (id, username) select 'fan' || n, 'fan-' || n from generate_series(1, 2500) n`.execute(
    t.deps.db,
  )
  await sql`insert into follow (account_id, project_id) select id, ${project.id} from account where id like 'fan%'`.execute(
    t.deps.db,
  )
  const { queries } = await t.queriesOf(async () => {
    let afterId: string | undefined = ''
    while (afterId !== undefined) {
      const part: FollowerBatch = { projectId: project.id, versionId: version, afterId, limit: 1000 }
      afterId = await transaction(t.deps, (tx, changed) => notifyFollowers(tx, changed, part))
    }
  })
  assert.equal(queries.filter((query) => query.includes('insert into notification')).length, 3)
  const { rows } = await sql<{ notified: number; ids: number }>`
    select count(*) as notified, count(distinct id) as ids from notification where cause = ${`version:${version}`}`.execute(
    t.deps.db,
  )
  assert.deepEqual(rows, [{ notified: 2500, ids: 2500 }])
})
