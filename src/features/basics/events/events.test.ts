// Commands and the events that they record. Webhooks are written by SQL: their routes have their own tests.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

let t: TestApp
let owner: Person
let moderator: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  moderator = await t.make.account({ role: 'moderator' })
})
after(() => t.close())
beforeEach(async () => {
  owner = await t.make.account()
  project = await t.make.project({ owner })
  await t.deps.db.deleteFrom('event').execute()
  await t.deps.db.deleteFrom('webhook').execute()
})

async function addWebhook(fields: { active?: boolean } = {}): Promise<void> {
  const active = fields.active ?? true
  await t.deps.db
    .insertInto('webhook')
    .values({
      id: newId(),
      owner_kind: 'instance',
      url: 'https://hooks.example/',
      host: 'hooks.example',
      format: 'standard',
      events: ['*'],
      secret: Buffer.from('sealed'),
      active,
      disabled_reason: active ? null : 'owner',
    })
    .execute()
}

const events = () => t.deps.db.selectFrom('event').selectAll().orderBy('id').execute()
const kinds = async () => (await events()).map(({ kind }) => kind)

async function ok(answer: Promise<{ statusCode: number; body: string }>): Promise<void> {
  const { statusCode, body } = await answer
  assert.ok(statusCode < 300, `${statusCode} ${body}`)
}

test('without an active webhook, no event is written', async () => {
  await addWebhook({ active: false })
  await ok(t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Another name' }))
  assert.deepEqual(await events(), [])
})

test('an event has the owners, the visibility and the changed fields', async () => {
  await addWebhook()
  await ok(t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Another name', summary: 'Another summary.' }))
  const [event, ...more] = await events()
  assert.deepEqual(more, [])
  assert.equal(event?.kind, 'project.updated')
  assert.equal(event?.number, null)
  assert.deepEqual(
    [event?.subject_kind, event?.subject_id, event?.account_ids, event?.is_public],
    ['project', project.id, [owner.id], true],
  )
  assert.deepEqual(event?.data, { project_id: project.id, fields: ['name', 'summary'] })
})

test('a refused command and a dry run record nothing', async () => {
  await addWebhook()
  const refused = await t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Fine', slug: 'not a slug!' })
  assert.equal(refused.statusCode, 400)
  const data = await form({ ...versionData({ project_id: project.id }) }, [{ name: 'file', bytes: modJar('dry') }])
  await ok(t.as(owner).post('/v3/version?dry_run=true', data.payload, { headers: data.headers }))
  assert.deepEqual(await events(), [])
})

test('a version is published, updated, hidden and removed', async () => {
  await addWebhook()
  const data = await form(versionData({ project_id: project.id }), [{ name: 'file', bytes: modJar(newId()) }])
  const answer = await t.as(owner).post('/v3/version', data.payload, { headers: data.headers })
  assert.equal(answer.statusCode, 201, answer.body)
  const { id } = answer.json()
  await ok(t.as(owner).patch(`/v3/version/${id}`, { status: 'listed' }))
  await ok(t.as(owner).patch(`/v3/version/${id}`, { name: 'A name', version_type: 'beta' }))
  await ok(t.as(owner).patch(`/v3/version/${id}`, { status: 'draft' }))
  await ok(t.as(owner).patch(`/v3/versions?ids=["${id}"]`, { featured: true }))
  await ok(t.as(owner).delete(`/v3/version/${id}`))
  const rows = await events()
  assert.deepEqual(
    rows.map(({ kind, is_public, version_type }) => [kind, is_public, version_type]),
    [
      ['version.published', true, 'release'],
      ['version.updated', true, 'beta'],
      ['version.updated', false, 'beta'],
      ['version.updated', false, 'beta'],
      ['version.removed', false, 'beta'],
    ],
  )
  assert.ok(rows.every(({ version_id, loaders }) => version_id === id && loaders[0] === 'fabric'))
  assert.deepEqual(rows[0]?.game_versions, ['1.20.1'])
  assert.deepEqual(rows[2]?.data, { project_id: project.id, version_id: id, from: 'listed', to: 'draft' })
})

test('a project is created once, when it becomes public for the first time', async () => {
  const draft = await t.make.project({ owner, status: 'processing' })
  await addWebhook()
  const status = (as: Person, to: string) => ok(t.as(as).patch(`/v3/project/${draft.id}`, { status: to }))
  await status(moderator, 'private')
  await status(owner, 'approved')
  await status(owner, 'unlisted')
  await status(owner, 'private')
  await status(owner, 'approved')
  await ok(t.as(owner).delete(`/v3/project/${draft.id}`))
  assert.deepEqual(await kinds(), [
    'project.status_changed',
    'project.created',
    'project.status_changed',
    'project.status_changed',
    'project.status_changed',
    'project.status_changed',
    'project.removed',
  ])
})

test('members are invited, join and leave; projects move between owners', async () => {
  const organization = await teamFactories(t.deps.db).organization(owner)
  const other = await t.make.account()
  await addWebhook()
  const team = `/v3/team/${project.teamId}`
  await ok(t.as(owner).post(`${team}/members`, { user_id: other.id }))
  await ok(t.as(other).post(`${team}/join`))
  await ok(t.as(owner).patch(`${team}/owner`, { user_id: other.id }))
  await ok(t.as(other).patch(`${team}/owner`, { user_id: owner.id }))
  await ok(t.as(owner).delete(`${team}/members/${other.id}`))
  await ok(t.as(owner).post(`/v3/organization/${organization.id}/projects`, { project_id: project.id }))
  await ok(t.as(owner).delete(`/v3/organization/${organization.id}/projects/${project.id}`, { new_owner: owner.id }))
  const rows = await events()
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    [
      'member.invited',
      'member.joined',
      'project.transferred',
      'project.transferred',
      'member.left',
      'organization.project_added',
      'project.transferred',
      'organization.project_removed',
      'project.transferred',
    ],
  )
  assert.deepEqual(new Set(rows[2]?.account_ids), new Set([owner.id, other.id]), 'the former owner and the new one')
  assert.deepEqual(rows[8]?.organization_ids, [organization.id])
})

test('collections, reports and accounts have events, and a new one of each is one event', async () => {
  const collection = await t.as(owner).post('/v3/collection', { name: 'Favourites', projects: [] })
  assert.equal(collection.statusCode, 201, collection.body)
  await addWebhook()
  await ok(t.as(owner).patch(`/v3/collection/${collection.json().id}`, { new_projects: [project.id] }))
  const reporter = await t.make.account()
  const report = await t
    .as(reporter)
    .post('/v3/report', { report_type: 'spam', item_id: project.id, item_type: 'project', body: 'It is spam.' })
  assert.equal(report.statusCode, 201, report.body)
  await ok(t.as(moderator).patch(`/v3/report/${report.json().id}`, { closed: true }))
  await ok(t.as(moderator).patch(`/v3/report/${report.json().id}`, { closed: true }))
  const rows = await events()
  assert.deepEqual(
    rows.map(({ kind, subject_kind, account_ids }) => [kind, subject_kind, account_ids]),
    [
      ['collection.updated', 'collection', [owner.id]],
      ['report.created', 'report', []],
      ['report.closed', 'report', []],
    ],
  )
})

test('the events of a removed account: its memberships end, and its projects move', async () => {
  const member = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id })
  await addWebhook()
  const admin = await t.make.account({ role: 'admin' })
  await t.make.account({ role: 'admin' })
  await ok(t.as(admin).delete(`/v3/user/${member.id}`))
  await ok(t.as(admin).delete(`/v3/user/${owner.id}`))
  assert.deepEqual(await kinds(), ['member.left', 'project.transferred'])
})

test('events are deleted after 30 days', async () => {
  await addWebhook()
  await ok(t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Another name' }))
  await t.deps.db
    .updateTable('event')
    .set({ at: new Date(t.deps.now() - 31 * DAY_MS) })
    .execute()
  await ok(t.as(owner).patch(`/v3/project/${project.id}`, { summary: 'Another summary.' }))
  await t.runJob('events.expire')
  assert.deepEqual(
    (await events()).map(({ data }) => data),
    [{ project_id: project.id, fields: ['summary'] }],
  )
})
