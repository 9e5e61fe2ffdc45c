// Protection of the sign-up: limits per address range, blocked domains and ranges, approval, and the limit of first projects.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { ADMIN_KEY, BYPASS_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError, mailsTo, makeMember, PASSWORD, statuses } from '#test/support/http/account-steps.ts'
import { form, modJar, PNG, projectData, versionData } from '#test/support/http/forms.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const PATH = '/_internal/admin/sign-up-blocks'
const block = (body: object) => t.anyone.post(PATH, body, KEY)
const list = async () => (await t.anyone.get(PATH, KEY)).json()
const set = async (settings: object) => {
  const answer = await t.anyone.patch('/_internal/admin/settings', settings, KEY)
  assert.equal(answer.statusCode, 204, answer.body)
}

let count = 0
const signUp = (remoteAddress: string, { domain = 'example.org', path = '' } = {}) => {
  count += 1
  const payload = { username: `new-${count}`, email: `new-${count}@${domain}`, password: PASSWORD }
  return t.inject({
    method: 'POST',
    url: `/_internal/auth/create${path}`,
    payload,
    remoteAddress,
    headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY },
  })
}

test('an address range can create a limited number of accounts per hour, and a failed sign-up does not count', async () => {
  await set({ sign_ups_per_range: 2 })
  assertError(await signUp('203.0.113.1', { domain: 'no domain' }), 400, 'validation_error', 'email')
  const answers = await Promise.all(['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((address) => signUp(address)))
  assert.deepEqual(statuses(answers), [201, 201, 429])
  const refused = await signUp('203.0.113.4')
  assertError(refused, 429, 'ratelimit_error')
  assert.match(refused.json().description, /from your network/)
  assert.equal((await signUp('203.0.114.1')).statusCode, 201)
  t.advance(HOUR_MS)
  assert.equal((await signUp('203.0.113.4')).statusCode, 201)
  await set({ sign_ups_per_range: null })
})

test('blocked domains and ranges cannot sign up until the block ends or is removed', async () => {
  const ends = new Date(t.deps.now() + DAY_MS).toISOString()
  const body = {
    email_domains: ['@Spam.example'],
    address_ranges: ['198.51.100.7/24', '2001:db8:7::1'],
    note: 'A wave',
    ends,
  }
  assert.deepEqual((await block(body)).json(), { count: 3 })
  for (const domain of ['spam.example', 'mail.SPAM.example'])
    for (const path of ['', '/validate'])
      assertError(await signUp('203.0.115.1', { domain, path }), 400, 'validation_error', 'email')
  assert.equal((await signUp('203.0.115.1', { domain: 'notspam.example' })).statusCode, 201)
  for (const address of ['198.51.100.200', '2001:db8:7::1']) {
    const refused = await signUp(address)
    assertError(refused, 403, 'unauthorized')
    assert.equal(refused.json().description, 'This service does not accept new accounts from your network')
  }
  assert.equal((await signUp('2001:db8:7::2')).statusCode, 201)
  const { total, blocks } = await list()
  assert.equal(total, 3)
  const domain = blocks.find((row: { email_domain: string | null }) => row.email_domain !== null)
  assert.deepEqual([domain.email_domain, domain.note, domain.ends], ['spam.example', 'A wave', ends])
  await block({ email_domains: ['spam.example'], note: 'Another note' })
  assert.equal((await list()).total, 3)
  t.advance(DAY_MS)
  assert.equal((await list()).total, 1)
  await t.runJob('accounts.expire')
  assert.equal((await signUp('198.51.100.200')).statusCode, 201)
  const [{ id, note }] = (await list()).blocks
  assert.equal(note, 'Another note')
  assert.equal((await t.anyone.delete(`${PATH}/${id}`, undefined, KEY)).statusCode, 204)
  assertError(await t.anyone.delete(`${PATH}/${id}`, undefined, KEY), 404, 'not_found')
  assert.equal((await signUp('203.0.115.1', { domain: 'spam.example' })).statusCode, 201)
})

test('a block is rejected by its field, and only operators see blocks', async () => {
  assertError(await block({}), 400, 'validation_error', 'email_domains')
  assertError(await block({ email_domains: ['a.example', 'no domain'] }), 400, 'validation_error', 'email_domains.1')
  assertError(await block({ address_ranges: ['192.0.2.0/33'] }), 400, 'validation_error', 'address_ranges.0')
  assertError(
    await block({ email_domains: ['a.example'], ends: '2020-01-01T00:00:00Z' }),
    400,
    'validation_error',
    'ends',
  )
  const moderator = await t.make.account({ role: 'moderator' })
  assertError(await t.as(moderator).get(PATH), 404, 'not_found')
})

const create = async (person: { token: string }, slug: string) => {
  const { payload, headers } = await form(projectData(slug))
  return t.as(person).post('/v3/project', payload, { headers })
}

test('a new account that waits signs in and cannot publish, until a moderator approves it', async () => {
  await set({ approve_accounts: true })
  const made = await signUp('203.0.116.1')
  assert.equal(made.statusCode, 201, made.body)
  const { session: token, user_id: id } = made.json()
  const own = t.as({ token })
  assert.equal((await own.get('/v3/user')).statusCode, 200)
  assertError(await create({ token }, 'too-early'), 403, 'unauthorized')
  assertError(await own.post('/v3/collection', { name: 'Too early', projects: [] }), 403, 'unauthorized')
  const organization = { slug: 'too-early', name: 'Too early', description: 'It is' }
  assertError(await own.post('/v3/organization', organization), 403, 'unauthorized')
  // As a member of a team, the account cannot publish or change anything either.
  const { teamId, id: project } = await t.make.project({ status: 'draft' })
  await t.make.member({ teamId, accountId: id })
  const upload = async () => {
    const data = versionData({ project_id: project })
    const version = await form(data, [{ name: 'file', bytes: modJar('waiting') }])
    return own.post('/v3/version', version.payload, { headers: version.headers })
  }
  const edit = () => own.patch(`/v3/project/${project}`, { summary: 'Lights the deep.' })
  for (const refused of [await upload(), await edit()]) assertError(refused, 403, 'unauthorized')
  assert.equal((await upload()).json().description, 'A moderator must approve your account before you can publish')
  // Nothing that everyone sees: the name, the text and the image of the profile, and applications.
  for (const patch of [{ bio: 'Cheap lamps' }, { username: 'cheap-lamps' }])
    assertError(await own.patch(`/v3/user/${id}`, patch), 403, 'unauthorized')
  assert.equal((await own.patch(`/v3/user/${id}`, { language: 'de' })).statusCode, 204)
  const icon = await own.patch(`/v3/user/${id}/icon?ext=png`, PNG, { headers: { 'content-type': 'image/png' } })
  assertError(icon, 403, 'unauthorized')
  const application = { name: 'Lamps', max_scopes: 1, redirect_uris: ['https://lamps.example/'] }
  assertError(await own.post('/_internal/oauth/app', application), 403, 'unauthorized')
  const site = visitor(t, token)
  const start = await site.get('/new/project')
  assertSays(start, 200, 'A moderator must approve your account')
  assert.ok(!start.body.includes('name="slug"'))
  for (const path of ['/new/collection', '/new/organization'])
    assertSays(await site.get(path), 200, 'A moderator must approve your account')
  const mira = t.as(await t.make.account({ role: 'moderator' }))
  const waiting = (await mira.get('/_internal/moderation/users', { query: { waiting: true } })).json()
  assert.deepEqual([waiting.total, waiting.users[0].id, waiting.users[0].waiting], [1, id, true])
  const approve = () => mira.post('/_internal/moderation/approvals', { users: [id] })
  assertError(await own.post('/_internal/moderation/approvals', { users: [id] }), 403, 'unauthorized')
  const both = await Promise.all([approve(), approve()])
  assert.deepEqual(both.map((answer) => answer.json().count).sort(), [0, 1])
  assert.equal((await create({ token }, 'in-time')).statusCode, 201)
  assert.equal((await edit()).statusCode, 204)
  assert.equal((await upload()).statusCode, 201)
  assertSays(await site.get('/new/project'), 200, 'name="slug"')
  const { email } = (await own.get('/v3/user')).json()
  assert.equal((await mailsTo(t, email, /account is approved/)).length, 1)
  await set({ approve_accounts: null })
})

test('a new author creates a limited number of projects per day, until one is approved', async () => {
  await set({ first_projects_per_day: 2 })
  const author = await t.make.account()
  const answers = await Promise.all(['first-a', 'first-b', 'first-c'].map((slug) => create(author, slug)))
  assert.deepEqual(statuses(answers), [201, 201, 400])
  assertError(await create(author, 'first-d'), 400, 'LimitReached')
  const own = t.deps.db.updateTable('project').where('slug', 'like', 'first-%')
  await own.set({ published: new Date(Date.now() - DAY_MS) }).execute()
  assert.equal((await create(author, 'first-e')).statusCode, 201)
  await own.set({ approved: new Date(), published: new Date() }).execute()
  assert.equal((await create(author, 'first-f')).statusCode, 201)
  await set({ first_projects_per_day: null })
})

test('a blocked domain also refuses a change of the email address, except by an operator', async () => {
  await block({ email_domains: ['throwaway.example'] })
  const member = await makeMember(t)
  const email = 'mira@mail.throwaway.example'
  const change = () => t.as(member).patch('/_internal/auth/email', { email, password: PASSWORD })
  assertError(await change(), 400, 'validation_error', 'email')
  assert.equal((await t.as(member).get('/v3/user')).json().email, member.email)
  const admin = await t.make.account({ role: 'admin' })
  const path = `/operator/user/${member.id}`
  const operator = visitor(t, admin.token)
  const set = await operator.send(`${path}/email`, `${path}/email`, { email, verified: 'true', do: 'confirm' })
  assertSays(await operator.get(assertLeads(set, `${path}?done=blocked-email-set`)), 200, 'is blocked for users')
  assert.equal((await t.as(member).get('/v3/user')).json().email, email)
})
