// The attention list: each kind, the order, dismissals, other users, and the number of statements.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits, teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { projectData } from '#test/support/http/forms.ts'
import type { AttentionItem } from './views.ts'

const { t } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

const read = (who: Person | { token: string }, of: { id: string }) => t.as(who).get(`/v3/user/${of.id}/attention`)
async function items(person: Person): Promise<AttentionItem[]> {
  const answer = await read(person, person)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().items
}
const kinds = async (person: Person): Promise<string[]> => (await items(person)).map(({ kind }) => kind)
/** A project whose only version supports every release of the last years, so that it needs nothing. */
const current = async (owner: Person, fields: object = {}): Promise<MadeProject> => {
  const project = await t.make.project({ owner, ...fields })
  await t.make.version({ project, game_versions: ['1.21.8'] })
  return project
}
async function draft(owner: Person, slug: string): Promise<string> {
  const made = await t.as(owner).post('/v3/project', projectData(slug, { license_decided: false }))
  assert.equal(made.statusCode, 201, made.body)
  return made.json().id
}
const say = async (who: Person, id: string, text: string): Promise<void> => {
  const { thread_id } = (await t.as(moderator).get(`/v3/project/${id}`)).json()
  const answer = await t.as(who).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: text } })
  assert.equal(answer.statusCode, 204, answer.body)
}

test('a message of a moderator waits for an answer, with its text', async () => {
  const owner = await t.make.account()
  const id = await draft(owner, 'asked')
  await say(moderator, id, 'Who made the music?')
  const [first] = await items(owner)
  assert.deepEqual(
    [first?.kind, first?.quote, first?.project?.slug],
    ['moderator_message', 'Who made the music?', 'asked'],
  )
  await say(owner, id, 'I did.')
  assert.deepEqual(await kinds(owner), ['incomplete_draft'])
})

test('a rejection waits until the project is submitted again', async () => {
  const owner = await t.make.account()
  const id = await draft(owner, 'refused')
  await t.make.version({ project: { id, owner } as MadeProject, game_versions: ['1.21.8'] })
  const patch = async (who: Person, body: object): Promise<void> => {
    const answer = await t.as(who).patch(`/v3/project/${id}`, body)
    assert.equal(answer.statusCode, 204, answer.body)
  }
  await patch(owner, { license_id: 'MIT', status: 'processing' })
  await patch(moderator, { status: 'rejected', moderation_message: 'Credit the artist' })
  const [item] = await items(owner)
  assert.deepEqual([item?.kind, item?.quote], ['moderator_message', 'Credit the artist'])
  await patch(owner, { status: 'processing' })
  assert.deepEqual(await kinds(owner), [])
})

test('an incomplete draft names what it needs, and can be dismissed for 30 days', async () => {
  const owner = await t.make.account()
  const id = await draft(owner, 'unfinished')
  const [item] = await items(owner)
  assert.deepEqual(
    [item?.id, item?.missing, item?.dismissible],
    [`incomplete_draft:${id}`, ['license', 'version'], true],
  )
  const path = `/v3/user/${owner.id}/attention/${item?.id}/dismissal`
  const dismissed = await t.as(owner).put(path)
  assert.equal(dismissed.statusCode, 200, dismissed.body)
  assert.deepEqual(await items(owner), [])
  assert.equal((await t.as(owner).delete(path)).statusCode, 204)
  assert.equal((await items(owner)).length, 1)
  await Promise.all([t.as(owner).put(path), t.as(owner).put(path)])
  assert.deepEqual(await items(owner), [])
  await t.deps.db
    .updateTable('attention_dismissal')
    .set({ until: new Date(t.deps.now() - 1) })
    .execute()
  assert.equal((await items(owner)).length, 1)
})

test('scans, schedules, invitations and reports are listed, most urgent first', async () => {
  const [owner, other] = [await t.make.account(), await t.make.account()]
  const project = await current(owner)
  const soon = new Date(t.deps.now() + DAY_MS)
  const held = await t.make.version({ project, version_number: '2.0.0', status: 'unknown' })
  const failed = await t.make.version({ project, version_number: '3.0.0', status: 'unknown' })
  const scan = { next_attempt: soon, requested: soon }
  await t.deps.db
    .insertInto('version_scan')
    .values([
      { ...scan, version_id: held.id, state: 'quarantine', reason: 'A locked archive' },
      { ...scan, version_id: failed.id, state: 'pending', last_error: 'timeout', attempts: 3 },
    ])
    .execute()
  await t.deps.db
    .updateTable('project')
    .set({ status: 'scheduled', scheduled_at: soon })
    .where('id', '=', project.id)
    .execute()
  const invited = await t.make.project({ owner: other })
  await t.make.member({ teamId: invited.teamId, accountId: owner.id, accepted: false })
  const report = { report_type: 'spam', item_type: 'user', item_id: other.id, body: 'Look' }
  const { thread_id } = (await t.as(owner).post('/v3/report', report)).json()
  await t.as(moderator).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: 'Which one?' } })
  const list = await items(owner)
  assert.deepEqual(
    list.map(({ kind, quote }) => [kind, quote]),
    [
      ['quarantined_version', 'A locked archive'],
      ['failed_scan', null],
      ['invitation', 'Member'],
      ['scheduled', null],
      ['report_reply', 'Which one?'],
    ],
  )
  assert.deepEqual([list[0]?.version?.version_number, list[2]?.project?.id], ['2.0.0', invited.id])
})

test('dependencies that are no longer public and old game versions are listed for public projects', async () => {
  const [owner, other] = [await t.make.account(), await t.make.account()]
  const needed = await t.make.project({ owner: other })
  const project = await t.make.project({ owner })
  const { id } = await t.make.version({ project, game_versions: ['1.20.1'] })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: id, project_id: needed.id, dependency_type: 'required' })
    .execute()
  const [old] = await items(owner)
  const query = { loader_field: 'game_versions', filters: '{"type":"release"}' }
  const [newest] = (await t.anyone.get('/v3/loader_field', { query })).json().values
  assert.deepEqual([old?.kind, old?.quote, old?.dismissible], ['unsupported_game_version', newest.value, true])
  await t.as(moderator).patch(`/v3/project/${needed.id}`, { status: 'rejected' })
  assert.deepEqual(await kinds(owner), ['withdrawn_dependency', 'unsupported_game_version'])
  await t.make.version({
    project,
    version_number: '2.0.0',
    game_versions: [newest.value],
    date_published: new Date(t.deps.now() + 1000),
  })
  assert.deepEqual(await kinds(owner), [])
  const first = await t.as(owner).patch(`/v3/version/${id}`, { ordering: 1 })
  assert.equal(first.statusCode, 204, first.body)
  assert.deepEqual(await kinds(owner), ['withdrawn_dependency'], 'the version that `ordering` puts first counts')
})

test('projects of organizations count, and an author of many projects costs as many statements as one of few', async () => {
  const make = teamFactories(t.deps.db)
  const owner = await t.make.account()
  const organization = await make.organization(owner)
  await make.project(undefined, { status: 'draft', organization_id: organization.id })
  // The first request fills the caches of the token and of the projects.
  await items(owner)
  const few = await t.queriesOf(() => items(owner))
  assert.equal(few.result.length, 1)
  for (let n = 0; n < 20; n += 1) await make.project(owner, { status: 'draft' })
  await items(owner)
  const many = await t.queriesOf(() => items(owner))
  assert.equal(many.result.length, 21)
  assert.equal(many.queries.length, few.queries.length)
})

test('the list is private, and only some items can be dismissed', async () => {
  const [owner, other, admin] = [
    await t.make.account(),
    await t.make.account(),
    await t.make.account({ role: 'admin' }),
  ]
  for (const caller of [other, admin]) assertError(await read(caller, owner), 403, 'unauthorized')
  assertError(await t.anyone.get(`/v3/user/${owner.id}/attention`), 401, 'unauthorized')
  assertError(await read(owner, { id: 'nobody-here' }), 404, 'not_found')
  const narrow = await t.make.pat(owner, scopeBits('ALL_BUT', 'NOTIFICATION_WRITE'))
  const project = await t.make.project({ owner: other, status: 'draft' })
  const path = (item: string, person = owner) => `/v3/user/${person.id}/attention/${item}/dismissal`
  assertError(await t.as(narrow).put(path(`incomplete_draft:${project.id}`)), 403, 'unauthorized')
  assertError(await t.as(owner).put(path(`incomplete_draft:${project.id}`)), 404, 'not_found')
  assertError(await t.as(owner).put(path(`scheduled:${project.id}`)), 400, 'invalid_input', 'item')
  assertError(await t.as(owner).put(path('incomplete_draft:!')), 400, 'decoding_error', 'item')
  assertError(await t.as(owner).put(path(`incomplete_draft:${project.id}`, other)), 403, 'unauthorized')
  assertError(await t.as(owner).delete(path(`incomplete_draft:${project.id}`, other)), 403, 'unauthorized')
})
