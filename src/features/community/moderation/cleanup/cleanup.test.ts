// Cleanups of accounts: their effects, their undo and their end, who can do it, and concurrent cleanups.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError, assertRefusedValues, mailsTo, makeMember, statuses } from '#test/support/http/account-steps.ts'

const { t } = await teamApp()
const make = teamFactories(t.deps.db)
const PATH = '/_internal/moderation/cleanups'
const mira = await t.make.account({ role: 'moderator' })
const [olga] = [await t.make.account({ role: 'admin' }), await t.make.account({ role: 'admin' })]
/** An hour of the clock ends the sessions of the staff after some tests. */
const fresh = async (person: Person): Promise<Person> => ({ ...person, token: await t.make.session(person.id) })

const body = (people: readonly { id: string }[], fields: object = {}) => ({
  action: 'spam',
  users: people.map(({ id }) => id),
  message: 'Advertising',
  ...fields,
})
const clean = (people: readonly { id: string }[], fields: object = {}, who = mira) =>
  t.as(who).post(PATH, body(people, fields))
const undo = (id: string, who = mira) => t.as(who).post(`${PATH}/${id}/undo`)
const finish = async () => {
  t.advance(HOUR_MS)
  await t.runJob('cleanups.finish')
}

/** A spammer with a project in review, a collection, an organization with a project, and a profile. */
async function makeSpammer() {
  const person = await makeMember(t)
  const project = await t.make.project({ owner: person, status: 'processing' })
  await t.deps.db
    .updateTable('project')
    .set({ approved: null, queued: new Date(5) })
    .where('id', '=', project.id)
    .execute()
  const organization = await make.organization(person)
  const other = await make.project(undefined, { organization_id: organization.id, status: 'processing' })
  const own = t.as(person)
  const collection = (await own.post('/v3/collection', { name: 'Buy lamps', projects: [] })).json()
  assert.equal((await own.patch(`/v3/user/${person.id}`, { bio: 'Cheap lamps' })).statusCode, 204)
  return { person, project, organization, other, collection }
}
type Spammer = Awaited<ReturnType<typeof makeSpammer>>

const statusOf = async ({ id }: { id: string }) => (await t.as(mira).get(`/v3/project/${id}`)).json().status

/** The parts of a spammer that somebody without an account sees, and the queue. */
async function seen({ person, project, organization, collection }: Spammer) {
  const status = async (path: string) => (await t.anyone.get(path)).statusCode
  const queue = (await t.as(mira).get('/_internal/moderation/projects', { query: { count: 200 } })).json().projects
  return {
    project: await statusOf(project),
    queued: queue.some(({ id }: { id: string }) => id === project.id),
    organization: await status(`/v3/organization/${organization.id}`),
    page: await status(`/organization/${organization.slug}`),
    collection: await status(`/v3/collection/${collection.id}`),
    collections: (await t.anyone.get(`/v3/user/${person.id}/collections`)).json().length,
    bio: (await t.anyone.get(`/v3/user/${person.id}`)).json().bio,
    token: (await t.as(person).get('/v3/user')).statusCode,
  }
}

test('a mark as spam immediately removes everything that others see, and undoing it restores everything', async () => {
  const spammer = await makeSpammer()
  const { person, project, other } = spammer
  const pat = await t.make.pat(person)
  const before = await seen(spammer)
  const shown = { project: 'processing', queued: true, organization: 200, page: 200, collection: 200, collections: 1 }
  assert.deepEqual(before, { ...shown, bio: 'Cheap lamps', token: 200 })
  const preview = await clean([person], { dry_run: true })
  assert.equal(preview.statusCode, 200, preview.body)
  const [user] = preview.json().users
  assert.deepEqual(
    [preview.json().id, user.username, user.projects.length, user.collections.length, user.organizations.length],
    [null, person.username, 2, 1, 1],
  )
  assert.deepEqual(await seen(spammer), before)

  const done = (await clean([person])).json()
  const gone = { project: 'rejected', queued: false, organization: 404, page: 404, collection: 404, collections: 0 }
  assert.deepEqual(await seen(spammer), { ...gone, bio: null, token: 401 })
  assert.equal(await statusOf(other), 'rejected')
  assertError(await t.as(pat).get('/v3/user'), 401, 'unauthorized')
  t.advance(30 * MINUTE_MS)
  await t.runJob('cleanups.finish')
  await t.runJob('decisions.announce')
  const undone = await undo(done.id)
  assert.deepEqual(
    [undone.statusCode, undone.json()],
    [200, { users: [{ id: person.id, username: person.username }], kept: [] }],
  )
  assert.deepEqual(await seen(spammer), { ...before, token: 401 })
  assert.equal(await statusOf(other), 'processing')
  assert.equal((await t.as(pat).get('/v3/user')).statusCode, 200, 'tokens had paused')
  const { queued, moderation_message } = await t.deps.db
    .selectFrom('project')
    .select(['queued', 'moderation_message'])
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual([queued, moderation_message], [new Date(5), null], 'the project has its place in the queue again')
  const { entries } = (await t.as(mira).get('/_internal/moderation/log', { query: { user: person.id } })).json()
  assert.deepEqual(entries.map(({ action }: { action: string }) => action).reverse(), [
    'account.cleaned_up',
    'account.suspended',
    'account.cleanup_undone',
    'account.unsuspended',
  ])
  assertError(await undo(done.id), 404, 'not_found')
})

test('a cleanup closes the open reports about the accounts and their projects, and its undo reopens them', async () => {
  const { person, project } = await makeSpammer()
  const [reporter, bystander] = await t.make.people(2)
  const report = async (by: Person, item_type: string, item: { id: string }) => {
    const fields = { report_type: 'spam', item_type, item_id: item.id, body: 'Lamps' }
    return (await t.as(by).post('/v3/report', fields)).json().id as string
  }
  const [about, other] = [await report(reporter, 'user', person), await report(reporter, 'user', bystander)]
  const ofProject = await report(mira, 'project', project)
  const { thread_id } = (await t.as(mira).get(`/v3/report/${about}`)).json()
  assert.ok(thread_id)
  const state = async (id: string) => {
    const { closed, outcome } = (await t.as(mira).get(`/v3/report/${id}`)).json()
    return [closed, outcome]
  }
  const [planned] = (await clean([person], { dry_run: true })).json().users
  assert.deepEqual(planned.reports, [
    { id: about, report_type: 'spam', item_type: 'user' },
    { id: ofProject, report_type: 'spam', item_type: 'project' },
  ])
  const { id } = (await clean([person])).json()
  assert.deepEqual(await Promise.all([about, ofProject, other].map(state)), [
    [true, 'action'],
    [true, 'action'],
    [false, null],
  ])
  const log = (await t.as(mira).get('/_internal/moderation/log', { query: { subject_id: about } })).json()
  assert.deepEqual([log.entries[0].action, log.entries[0].details], ['report.closed', { outcome: 'action' }])
  assert.equal((await undo(id)).statusCode, 200)
  assert.deepEqual(await Promise.all([about, ofProject].map(state)), [
    [false, null],
    [false, null],
  ])
})

test('after an hour, the hidden content is deleted, tokens end, and nothing can be undone', async () => {
  const spammer = await makeSpammer()
  const { person, organization, collection, other } = spammer
  const pat = await t.make.pat(person)
  const { id } = (await clean([person])).json()
  assert.equal((await mailsTo(t, person.email, /suspended/)).length, 0)
  t.advance(HOUR_MS)
  assertError(await undo(id), 409, 'conflict')
  await t.runJob('cleanups.finish')
  assertError(await undo(id), 404, 'not_found')
  assert.match((await mailsTo(t, person.email, /suspended/))[0] ?? '', /Advertising/)
  const rows = await t.deps.pool.query(
    `select id from organization where id = $1 union all select id from collection where id = $2
     union all select cleanup_id from cleaned_account where account_id = $3
     union all select id from personal_access_token where account_id = $3`,
    [organization.id, collection.id, person.id],
  )
  assert.deepEqual(rows.rows, [])
  assert.equal(await statusOf(other), 'rejected')
  const operator = t.as(await fresh(olga))
  assert.equal((await operator.delete(`/_internal/admin/user/${person.id}/suspension`)).statusCode, 204)
  assertError(await t.as(pat).get('/v3/user'), 401, 'unauthorized')
})

test('moderators can mark only developers without an approved project; the others are left out and named', async () => {
  const [published, member, spammer] = await t.make.people(3)
  const project = await t.make.project({ owner: published, slug: 'lantern-of-spam' })
  await t.deps.db.updateTable('project').set({ approved: new Date() }).where('approved', 'is', null).execute()
  const organization = await make.organization(await t.make.account())
  await make.member(organization.teamId, member)
  const people = [published, member, spammer, mira, olga, { id: 'zzzzzzzz' }]
  const { users, skipped } = (await clean(people, { dry_run: true })).json()
  const names = (list: { id: string }[]) => list.map(({ id }) => id).sort()
  assert.deepEqual(names(users), names([member, spammer]))
  assert.deepEqual(
    new Map(skipped.map(({ id, reason }: { id: string; reason: string }) => [id, reason])),
    new Map([
      [published.id, 'operator'],
      [mira.id, 'own'],
      [olga.id, 'admin'],
      ['zzzzzzzz', 'missing'],
    ]),
  )
  assertError(await clean([published]), 409, 'conflict')
  for (const action of ['remove_content', 'suspend', 'delete'])
    assertError(await clean([spammer], { action }), 403, 'unauthorized')
  const operator = await fresh(olga)
  const found = async (): Promise<number[]> => {
    await t.searchable()
    const { slug } = project
    const pages = await Promise.all(['/', '/mods'].map((path) => t.anyone.get(path)))
    const hits = (await t.anyone.get('/v3/search', { query: { query: slug } })).json().hits
    return [hits.length, pages.filter((page) => page.body.includes(slug)).length]
  }
  assert.notDeepEqual(await found(), [0, 0])
  const marked = await clean([published], {}, operator)
  assert.equal(marked.statusCode, 200, marked.body)
  assert.deepEqual(await found(), [0, 0])
  assert.equal((await undo(marked.json().id)).statusCode, 200)
  assert.notDeepEqual(await found(), [0, 0])
  assert.equal((await clean([member])).statusCode, 200)
  assert.equal((await t.anyone.get(`/v3/organization/${organization.id}`)).statusCode, 200, 'it has another owner')
})

test('what only operators can do needs a confirmed password', async () => {
  const [person, other] = await t.make.people(2)
  const unconfirmed = await fresh(olga)
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', olga.id).execute()
  assertError(await clean([person], { action: 'suspend' }, unconfirmed), 401, 'unauthorized', 'password')
  assert.equal((await clean([person], { action: 'suspend', dry_run: true }, unconfirmed)).statusCode, 200)
  assert.equal((await clean([other], {}, unconfirmed)).statusCode, 200, 'moderators can do this too')
})

test('operators can only suspend, only remove the content, and delete with an hour to undo it', async () => {
  const operator = await fresh(olga)
  const [suspended, cleaned, deleted, spared] = [
    await makeSpammer(),
    await makeSpammer(),
    await makeSpammer(),
    await makeSpammer(),
  ]
  await clean([suspended.person], { action: 'suspend' }, operator)
  assert.deepEqual([await statusOf(suspended.project), (await seen(suspended)).token], ['processing', 401])
  await clean([cleaned.person], { action: 'remove_content' }, operator)
  assert.deepEqual([await statusOf(cleaned.project), (await seen(cleaned)).token], ['rejected', 200])
  await clean([deleted.person], { action: 'delete' }, operator)
  const { id } = (await clean([spared.person], { action: 'delete' }, operator)).json()
  assertError(await undo(id), 403, 'unauthorized')
  assert.equal((await undo(id, operator)).statusCode, 200)
  await finish()
  assertError(await t.anyone.get(`/v3/user/${deleted.person.id}`), 404, 'not_found')
  assert.equal((await seen(spared)).organization, 200)
  assert.deepEqual([await statusOf(suspended.project), (await seen(suspended)).organization], ['processing', 200])
})

test('what somebody has changed since stays as it is', async () => {
  const operator = await fresh(olga)
  const { person, project, other } = await makeSpammer()
  const { id } = (await clean([person])).json()
  assert.equal((await t.as(mira).patch(`/v3/project/${project.id}`, { status: 'withheld' })).statusCode, 204)
  const suspension = `/_internal/admin/user/${person.id}/suspension`
  t.advance(MINUTE_MS)
  assert.equal((await t.as(operator).put(suspension, { reason: 'Another reason' })).statusCode, 204)
  const { kept } = (await undo(id)).json()
  assert.deepEqual(
    kept.map((one: { id: string }) => one.id),
    [project.id],
  )
  assert.deepEqual([await statusOf(project), await statusOf(other)], ['withheld', 'processing'])
  const listed = (await t.as(operator).get('/_internal/admin/suspended-users')).json()
  assert.equal(listed.find((one: { id: string }) => one.id === person.id).reason, 'Another reason')
})

test('two moderators at the same time remove each account once, and an undo never meets a half removed account', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => makeSpammer()))
  const persons = people.map(({ person }) => person)
  const nils = await t.make.account({ role: 'moderator' })
  const answers = await Promise.all([clean(persons), clean(persons.toReversed(), {}, nils), clean(persons)])
  assert.deepEqual(statuses(answers), [200, 409, 409])
  const first = answers.find(({ statusCode }) => statusCode === 200)?.json().id
  const [undone, again, undoneToo] = await Promise.all([undo(first), clean(persons, {}, nils), undo(first, nils)])
  assert.deepEqual(statuses([undone, undoneToo]), [200, 404])
  for (const { project } of people)
    assert.equal(await statusOf(project), again.statusCode === 200 ? 'rejected' : 'processing')
  const count = await t.deps.db
    .selectFrom('cleaned_account')
    .select('account_id')
    .where(
      'account_id',
      'in',
      persons.map(({ id }) => id),
    )
    .execute()
  assert.equal(count.length, again.statusCode === 200 ? 6 : 0)
})

test('the hidden organization of an account that is deleted within the hour is deleted too', async () => {
  const operator = await fresh(olga)
  const { person, organization } = await makeSpammer()
  assert.equal((await clean([person])).statusCode, 200)
  assert.equal((await t.as(operator).delete(`/v3/user/${person.id}`)).statusCode, 204)
  await t.runJob('cleanups.finish')
  const rows = await t.deps.db.selectFrom('organization').select('id').where('id', '=', organization.id).execute()
  assert.deepEqual(rows, [])
})

test('a cleanup is rejected by its field', async () => {
  const person = await t.make.account()
  const send = (input: Record<string, unknown>) => t.as(mira).post(PATH, input)
  const valid = body([person])
  await assertRefusedValues(send, valid, 'action', [undefined, 'burn', 7])
  await assertRefusedValues(send, valid, 'message', [undefined, '', ' \n ', 'x'.repeat(1001), 'a\u0000b'])
  await assertRefusedValues(send, valid, 'users', [undefined, [], Array(101).fill(person.id)])
  assertError(await t.as(person).post(PATH, valid), 403, 'unauthorized')
  assertError(await t.as(person).post(`${PATH}/aaaaaaaa/undo`), 403, 'unauthorized')
  assertError(await t.anyone.post(PATH, valid), 401, 'unauthorized')
})
