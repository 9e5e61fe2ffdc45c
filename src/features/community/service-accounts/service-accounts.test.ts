// Service accounts of organizations over HTTP: their tokens, the ways to sign in that they do not have, and their end.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { ALL_PROJECT_PERMISSIONS, ORGANIZATION_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { type Owned, teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError, mailsTo, PASSWORD } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

let t: TestApp
let owner: Person
let organization: Owned
before(async () => {
  t = await testApp()
})
after(() => t.close())
beforeEach(async () => {
  owner = await t.make.account()
  organization = await teamFactories(t.deps.db).organization(owner)
})

const path = (rest = '') => `/v3/organization/${organization.id}/service-accounts${rest}`
const name = () => `builds-${newId().toLowerCase()}`
const add = (as: Person, username = name()) => t.as(as).post(path(), { username })
const body = (more: object = {}) => ({
  name: 'For builds',
  scopes: ['VERSION_CREATE', 'VERSION_READ', 'PROJECT_CREATE', 'PROJECT_READ', 'USER_READ', 'ORGANIZATION_WRITE'],
  expires: new Date(t.deps.now() + 30 * DAY_MS).toISOString(),
  ...more,
})

async function made(): Promise<{ id: string; username: string }> {
  const answer = await add(owner)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

async function tokenOf(id: string, more: object = {}): Promise<string> {
  const answer = await t.as(owner).post(path(`/${id}/tokens`), body(more))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().access_token
}

async function publish(token: string, project_id: string) {
  const { payload, headers } = await form(versionData({ project_id, version_number: newId() }), [
    { name: 'file', bytes: modJar(newId()) },
  ])
  return t.as({ token }).post('/v3/version', payload, { headers })
}

test('a service account publishes in the projects of its organization, and nowhere else', async () => {
  const inside = await t.make.project({ organization_id: organization.id, status: 'draft' })
  const outside = await t.make.project({ owner })
  const { id, username } = await made()
  const token = await tokenOf(id)
  const version = await publish(token, inside.id)
  assert.equal(version.statusCode, 201, version.body)
  assert.equal(version.json().author_id, id)
  assertError(await publish(token, outside.id), 403, 'unauthorized')
  assert.equal((await t.as({ token }).get('/v3/user')).json().service_of, organization.id)
  assert.equal((await t.anyone.get(`/v3/user/${username}`)).json().service_of, organization.id)
  assert.ok(!('service_of' in (await t.anyone.get(`/v2/user/${username}`)).json()))
  assert.ok(!('service_of' in (await t.anyone.get(`/v3/user/${owner.id}`)).json()))
  const members = await t.anyone.get(`/v2/team/${organization.teamId}/members`)
  assert.ok(members.body.includes(username) && !members.body.includes('service_of'))
  const { payload, headers } = await form(projectData(name()))
  assertError(await t.as({ token }).post('/v3/project', payload, { headers }), 403, 'unauthorized')
  assertError(await t.as({ token }).get('/v3/notifications'), 403, 'unauthorized')
  const [listed] = (await t.as(owner).get(path())).json()
  assert.deepEqual([listed.username, listed.tokens.length, listed.tokens[0].access_token], [username, 1, null])
  assert.deepEqual(listed.tokens[0].limits.organizations, [organization.id])
  assert.equal((await t.as(owner).delete(path(`/${id}/tokens/${listed.tokens[0].id}`))).statusCode, 204)
  assertError(await publish(token, inside.id), 401, 'unauthorized')
  assertError(await t.as(owner).delete(path(`/${id}/tokens/${listed.tokens[0].id}`)), 404, 'not_found')
})

test('limits of a token are inside the organization', async () => {
  const inside = await t.make.project({ organization_id: organization.id, status: 'draft' })
  const other = await t.make.project({ owner })
  const { id } = await made()
  const token = await tokenOf(id, { limits: { projects: [inside.id] } })
  assert.equal((await publish(token, inside.id)).statusCode, 201)
  const refused = await t.as(owner).post(path(`/${id}/tokens`), body({ limits: { projects: [other.id] } }))
  assertError(refused, 400, 'validation_error', 'limits.projects.0')
  const networks = await t.as(owner).post(path(`/${id}/tokens`), body({ limits: { addresses: ['192.0.2.0/24'] } }))
  assert.deepEqual(networks.json().limits.organizations, [organization.id])
})

test('only members who manage members create service accounts, and no token gives them more than they have', async () => {
  const { id } = await made()
  const bits = ORGANIZATION_PERMISSIONS.MANAGE_INVITES | ORGANIZATION_PERMISSIONS.EDIT_MEMBER
  const factories = teamFactories(t.deps.db)
  const [member, manager, stranger] = await t.make.people(3)
  await factories.member(organization.teamId, member, {
    organization_permissions: 1,
    permissions: ALL_PROJECT_PERMISSIONS,
  })
  await factories.member(organization.teamId, manager, { organization_permissions: bits, permissions: 0 })
  for (const person of [member, stranger]) {
    assertError(await add(person), 403, 'unauthorized')
    assertError(await t.as(person).get(path()), 403, 'unauthorized')
    assertError(await t.as(person).post(path(`/${id}/tokens`), body()), 403, 'unauthorized')
    assertError(await t.as(person).delete(path(`/${id}`)), 403, 'unauthorized')
  }
  assertError(await t.as(manager).post(path(`/${id}/tokens`), body()), 403, 'unauthorized')
  const own = (await add(manager)).json()
  assert.equal((await t.as(manager).post(path(`/${own.id}/tokens`), body())).statusCode, 201)
  assertError(await t.as(manager).post(path(`/${owner.id}/tokens`), body()), 404, 'not_found')
  assertError(await t.as(manager).delete(path(`/${owner.id}`)), 404, 'not_found')
  const weak = await t.make.pat(owner, GRANTABLE_SCOPES)
  assertError(await t.as(weak).post(path(`/${own.id}/tokens`), body()), 403, 'unauthorized')
  for (const username of ['', 'a b', 'ä', 'a'.repeat(40)])
    assertError(await add(owner, username), 400, 'validation_error', 'username')
  assertError(await add(owner, own.username.toUpperCase()), 409, 'conflict')
  assertError(await add(owner, 'deleted-user'), 409, 'conflict')
})

test('a token never exceeds what its maker may do now, on any project', async () => {
  const project = await t.make.project({ organization_id: organization.id, status: 'draft' })
  const { db } = t.deps
  const factories = teamFactories(db)
  const manager = await t.make.account()
  const bits = ORGANIZATION_PERMISSIONS.MANAGE_INVITES | ORGANIZATION_PERMISSIONS.EDIT_MEMBER
  await factories.member(organization.teamId, manager, { organization_permissions: bits, permissions: 1 })
  const { id } = (await add(manager)).json()
  // In the team of the project, the service account may do more than the manager.
  await factories.member(project.teamId, { id }, { permissions: ALL_PROJECT_PERMISSIONS })
  const refused = await t.as(manager).post(path(`/${id}/tokens`), body())
  assertError(refused, 403, 'unauthorized')
  assert.ok(refused.json().description.includes(project.id))
  await factories.member(project.teamId, manager, { permissions: ALL_PROJECT_PERMISSIONS })
  const made = await t
    .as(manager)
    .post(path(`/${id}/tokens`), body({ scopes: ['PROJECT_WRITE', 'PROJECT_READ', 'ORGANIZATION_READ'] }))
  assert.equal(made.statusCode, 201, made.body)
  const token: string = made.json().access_token
  const edit = () => t.as({ token }).patch(`/v3/project/${project.id}`, { summary: newId() })
  const setBits = (permissions: number) =>
    t.as(owner).patch(`/v3/team/${project.teamId}/members/${manager.id}`, { permissions })
  assert.equal((await edit()).statusCode, 204)
  assert.equal((await setBits(1)).statusCode, 204)
  assertError(await edit(), 403, 'unauthorized')
  assert.equal((await setBits(ALL_PROJECT_PERMISSIONS)).statusCode, 204)
  assert.equal((await edit()).statusCode, 204)
  const reads = async () => (await t.as({ token }).get(`/v3/project/${project.id}`)).statusCode
  const lists = async () =>
    (await t.as({ token }).get(`/v3/organization/${organization.id}/projects`)).json().length as number
  assert.deepEqual([await reads(), await lists()], [200, 1])
  // Without the row of the organization, the token ends, even though the manager is a member of the project.
  assert.equal((await t.as(manager).delete(`/v3/team/${organization.teamId}/members/${manager.id}`)).statusCode, 204)
  assertError(await edit(), 401, 'unauthorized')
  assert.equal(await reads(), 404)
})

test('a token needs the confirmed password of its maker, who gets an email', async () => {
  const { id } = await made()
  await tokenOf(id)
  assert.equal((await mailsTo(t, owner.email, /new access token/)).length, 1)
  t.advance(10 * MINUTE_MS)
  assertError(await t.as(owner).post(path(`/${id}/tokens`), body()), 401, 'unauthorized', 'password')
})

test('tokens without a known maker do not work', async () => {
  const { id } = await made()
  const token = await tokenOf(id)
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 200)
  const second = await tokenOf(id)
  await t.deps.db.updateTable('personal_access_token').set({ created_by: null }).where('account_id', '=', id).execute()
  assertError(await t.as({ token: second }).get('/v3/user'), 401, 'unauthorized')
})

test('an organization has at most 20 service accounts, also with concurrent requests', async () => {
  const answers = await Promise.all(Array.from({ length: 22 }, () => add(owner)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 20)
  const refused = answers.filter(({ statusCode }) => statusCode !== 201)
  assert.ok(refused.every((answer) => /at most 20/.test(answer.json().description)))
})

test('nobody signs in as a service account, and it owns nothing', async () => {
  const { id, username } = await made()
  const admin = await t.make.account({ role: 'admin' })
  await t.runJobs()
  const mails = (await t.mails()).length
  const signIn = await t.anyone.post('/_internal/auth/login', { username, password: PASSWORD })
  assertError(signIn, 401, 'invalid_credentials')
  assert.equal((await t.anyone.post('/_internal/auth/password/reset', { username })).statusCode, 204)
  await t.runJobs()
  assert.equal((await t.mails()).length, mails)
  const operator = { headers: { 'x-admin-key': ADMIN_KEY } }
  assertError(await t.anyone.post(`/_internal/admin/user/${id}/password-link`, {}, operator), 400, 'invalid_input')
  assertError(await t.as(admin).patch(`/v3/user/${id}`, { role: 'moderator' }), 400, 'invalid_input')
  const token = await tokenOf(id)
  for (const [method, url] of [
    ['patch', '/_internal/auth/email'],
    ['patch', '/_internal/auth/password'],
    ['post', '/_internal/auth/code-host'],
    ['post', '/_internal/pat'],
  ] as const) {
    const answer = await t
      .as({ token })
      [method](url, { ...body(), email: 'a@example.org', password: PASSWORD, token: 'x' })
    assertError(answer, 403, 'unauthorized')
  }
  const transfer = await t.as(owner).patch(`/v3/team/${organization.teamId}/owner`, { user_id: id })
  assertError(transfer, 400, 'validation_error', 'user_id')
  const elsewhere = await t.make.project({ owner })
  const invited = await t.as(owner).post(`/v3/team/${elsewhere.teamId}/members`, { user_id: id })
  assertError(invited, 400, 'validation_error', 'user_id')
  assert.equal((await t.as(owner).delete(`/v3/team/${organization.teamId}/members/${id}`)).statusCode, 204)
  assert.equal((await t.as(owner).post(`/v3/team/${organization.teamId}/members`, { user_id: id })).statusCode, 204)
  const row = await t.deps.db
    .selectFrom('team_member')
    .select('accepted')
    .where('account_id', '=', id)
    .executeTakeFirstOrThrow()
  assert.ok(row.accepted)
})

test('its versions go to the placeholder account when it or its organization is deleted', async () => {
  const project = await t.make.project({ organization_id: organization.id, status: 'draft' })
  const [first, second] = [await made(), await made()]
  const tokens = [await tokenOf(first.id), await tokenOf(second.id)]
  const versions = await Promise.all(tokens.map(async (token) => (await publish(token, project.id)).json().id))
  const author = async (id: string) => (await t.as(owner).get(`/v3/version/${id}`)).json().author_id
  assert.equal((await t.as(owner).delete(path(`/${first.id}`))).statusCode, 204)
  assert.equal(await author(versions[0]), PLACEHOLDER_ID)
  assert.equal(await author(versions[1]), second.id)
  assertError(await publish(tokens[0] ?? '', project.id), 401, 'unauthorized')
  assert.equal((await t.as(owner).delete(`/v3/organization/${organization.id}`)).statusCode, 204)
  assertError(await publish(tokens[1] ?? '', project.id), 401, 'unauthorized')
  assertError(await t.anyone.get(`/v3/user/${second.username}`), 404, 'not_found')
  await t.runJob('accounts.delete-due')
  assert.equal(await author(versions[1]), PLACEHOLDER_ID)
  const left = await t.deps.db.selectFrom('account').select('id').where('id', 'in', [first.id, second.id]).execute()
  assert.deepEqual(left, [])
})

test('the creation and every token are in the audit log', async () => {
  const { id } = await made()
  await tokenOf(id)
  const entries = await t.deps.db
    .selectFrom('audit_entry')
    .select('action')
    .where('actor_id', '=', owner.id)
    .where('action', 'in', ['service_account.created', 'token.created'])
    .execute()
  assert.deepEqual(entries.map(({ action }) => action).toSorted(), ['service_account.created', 'token.created'])
})
