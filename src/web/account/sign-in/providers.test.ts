// Sign-in with accounts of GitHub and Discord. test/system/browser/stories/provider.test.ts has OpenID Connect.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError, enableTwoFactor, mailsTo, makeMember, totpCode } from '#test/support/http/account-steps.ts'
import { addPasskey } from '#test/support/http/authenticator.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'
import { answerAs, startAs, startSignInService } from '#test/support/stand-ins/sign-in-service.ts'

const SIGN_UP = '/account/sign-up'
const SECURITY = '/account/security'
const LINKED = `${SECURITY}?done=provider-linked`

let t: TestApp
let service: Awaited<ReturnType<typeof startSignInService>>
before(async () => {
  service = await startSignInService()
  const env = { SIGN_IN_PROVIDERS: service.settings, REQUIRE_VERIFIED_EMAIL: 'true', ACCOUNT_DELETION_DAYS: '14' }
  t = await testApp({ env })
})
after(async () => {
  service.close()
  await t.close()
})

const link = (member: { token: string }, code: string, provider = 'github') =>
  answerAs(visitor(t, member.token), { provider, purpose: 'link', code })
const enter = (code: string, provider = 'github') => answerAs(visitor(t), { provider, code })
const accountOf = (username: string) =>
  t.deps.db.selectFrom('account').selectAll().where('username', '=', username).executeTakeFirst()

for (const provider of ['github', 'discord'] as const) {
  test(`a user of ${provider} signs up with a name of their choice, and signs in again`, async () => {
    const [code, username] = [newId(), `name-${newId()}`]
    const email = `${newId()}@example.org`.toLowerCase()
    service.users.set(code, { name: 'Ida Marsh!', email, verified: true })
    const person = visitor(t)
    const back = await answerAs(person, { provider, code, returnTo: '/mods' })
    assertSays(back, 200, 'Choose a username for this site')
    assert.match(back.body, /value="IdaMarsh"/)
    assert.ok(back.body.includes(`value="${email}"`))
    assert.doesNotMatch(back.body, /name="password"/)
    const made = await person.sendFrom(back, SIGN_UP, { username, email })
    // The page about the emailed link leads on, because the address is verified.
    assertLeads(await person.get(assertLeads(made, '/account/check-mail?return=%2Fmods')), '/mods')
    const account = await accountOf(username)
    assert.deepEqual([account?.email, account?.email_verified, account?.password_hash], [email, true, null])
    assertLeads(await enter(code, provider), '/account')
    const own = await person.get(SECURITY)
    assertSays(own, 200, 'Ida Marsh!')
  })
}

test('an address that the provider has not verified must be verified, and links to no account', async () => {
  const member = await makeMember(t)
  const code = newId()
  service.users.set(code, { email: member.email, verified: false })
  const person = visitor(t)
  const back = await answerAs(person, { provider: 'github', code })
  assertSays(back, 200, 'Choose a username for this site')
  assert.ok(!back.body.includes(member.email))
  const taken = await person.sendFrom(back, SIGN_UP, { username: `n-${newId()}`, email: member.email })
  assertSays(taken, 409, 'The email address is taken')
  const [username, email] = [`n-${newId()}`, `${newId()}@example.org`]
  const done = await person.sendFrom(taken, SIGN_UP, { username, email })
  assert.equal(done.statusCode, 303, done.body)
  assert.equal((await accountOf(username))?.email_verified, false)
})

test('a verified address of another account links to nothing either', async () => {
  const member = await makeMember(t)
  const code = newId()
  service.users.set(code, { email: member.email, verified: true })
  const person = visitor(t)
  const back = await answerAs(person, { provider: 'discord', code })
  const taken = await person.sendFrom(back, SIGN_UP, { username: `n-${newId()}`, email: member.email })
  assertSays(taken, 409, 'The email address is taken')
  assert.deepEqual((await t.as(member).get('/v3/user')).json().auth_providers, [])
})

test('a signed-in user links and unlinks; the link signs in and is listed', async () => {
  const [member, other] = [await makeMember(t), await makeMember(t)]
  const code = newId()
  assertLeads(await link(member, code), LINKED)
  assert.deepEqual((await t.as(member).get('/v3/user')).json().auth_providers, ['github'])
  const { available, links } = (await t.as(member).get('/_internal/auth/providers')).json()
  assert.deepEqual(available, [
    { id: 'github', name: 'GitHub' },
    { id: 'discord', name: 'Discord' },
  ])
  assert.deepEqual([links.length, links[0].provider, links[0].name], [1, 'github', code])
  assert.equal((await mailsTo(t, member.email, /has a new link for sign-in/)).length, 1)
  assertSays(await link(other, code), 409, 'already linked')
  assertLeads(await enter(code), '/account')
  const person = visitor(t, member.token)
  assertLeads(
    await person.send(SECURITY, SECURITY, { do: 'unlink-provider.github' }),
    `${SECURITY}?done=provider-unlinked`,
  )
  assertSays(await enter(code), 200, 'Choose a username for this site')
  assertError(await t.as(member).delete('/_internal/auth/providers/github'), 404, 'not_found')
})

test('linking needs a session that was confirmed, and the same session at the end', async () => {
  const [member, other] = [await makeMember(t), await makeMember(t)]
  const code = newId()
  const owner = visitor(t, member.token)
  const page = await owner.get(SECURITY)
  t.advance(10 * MINUTE_MS + 1)
  const late = await owner.sendFrom(page, '/account/sign-in/provider', { provider: 'github', purpose: 'link' })
  assertSays(late, 401, 'Enter the password of your account again')
  const fresh = await makeMember(t)
  const person = visitor(t, fresh.token)
  const url = await startAs(person, { provider: 'github', purpose: 'link' })
  const query = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' })
  assertSays(await visitor(t, other.token).get(`/account/sign-in/callback/github?${query}`), 400, 'another browser')
  assert.deepEqual((await t.as(other).get('/v3/user')).json().auth_providers, [])
})

test('a callback needs the state of the same browser and provider, works once, and for 15 minutes', async () => {
  const person = visitor(t)
  const callback = (state: string, provider = 'github') =>
    person.get(`/account/sign-in/callback/${provider}?${new URLSearchParams({ code: newId(), state })}`)
  assertSays(await callback(''), 400, 'has expired')
  const url = await startAs(person, { provider: 'github' })
  assert.equal(url.searchParams.get('redirect_uri'), 'https://depot.test/account/sign-in/callback/github')
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
  const state = url.searchParams.get('state') ?? ''
  assertSays(await callback(state, 'discord'), 400, 'has expired')
  assertSays(await callback(state), 400, 'has expired')
  const late = await startAs(person, { provider: 'github' })
  t.advance(15 * MINUTE_MS + 1)
  assertSays(await callback(late.searchParams.get('state') ?? ''), 400, 'has expired')
})

test('errors of the provider are sentences on the sign-in page', async () => {
  assertSays(await enter('unknown'), 401, 'GitHub did not accept the sign-in')
  assertSays(await enter('unknown', 'discord'), 401, 'Discord did not accept the sign-in')
  const person = visitor(t)
  const url = await startAs(person, { provider: 'github' })
  const state = url.searchParams.get('state') ?? ''
  const cancelled = new URLSearchParams({ error: 'access_denied', error_description: '<b>No</b>', state })
  assertSays(
    await person.get(`/account/sign-in/callback/github?${cancelled}`),
    401,
    'You cancelled the sign-in at GitHub',
  )
  service.state.isDown = true
  assertSays(await enter(newId()), 424, 'The sign-in at GitHub does not work now')
  service.state.isDown = false
  assert.equal(
    (await visitor(t).send('/account/sign-in', '/account/sign-in/provider', { provider: 'x' })).statusCode,
    404,
  )
})

test('two-factor sign-in needs the code after the provider, and suspended accounts stay outside', async () => {
  const member = await makeMember(t)
  const code = newId()
  await link(member, code)
  const { secret } = await enableTwoFactor(t, member)
  const person = visitor(t)
  const asked = await answerAs(person, { provider: 'github', code })
  assertSays(asked, 200, 'Enter the code')
  assertLeads(await person.sendFrom(asked, '/account/sign-in/code', { code: totpCode(t, secret) }), '/account')
  await suspendAccount(t.deps, SYSTEM, { name: member.id, reason: 'Spam', until: null })
  assertSays(await answerAs(visitor(t), { provider: 'github', code }), 403, 'suspended')
})

test('without a password, the only link stays and confirms the session, and a password can be set', async () => {
  const [code, username] = [newId(), `n-${newId()}`]
  service.users.set(code, { email: `${newId()}@example.org`, verified: true })
  const person = visitor(t)
  const back = await answerAs(person, { provider: 'github', code })
  const made = await person.sendFrom(back, SIGN_UP, { username, email: service.users.get(code)?.email ?? '' })
  assertLeads(made, '/account/check-mail')
  const kept = await person.send(SECURITY, SECURITY, { do: 'unlink-provider.github' })
  assertSays(kept, 400, 'This is your only way to sign in')
  t.advance(10 * MINUTE_MS + 1)
  const asked = await person.get(SECURITY)
  assertSays(asked, 200, 'Confirm with GitHub')
  assert.doesNotMatch(asked.body, /type="password"/)
  const wrong = await answerAs(person, { provider: 'github', purpose: 'confirm', code: newId() })
  assertSays(wrong, 401, 'does not confirm your account')
  assertLeads(await answerAs(person, { provider: 'github', purpose: 'confirm', code, returnTo: SECURITY }), SECURITY)
  const fields = { do: 'password', new_password: 'seven violet teapots 31' }
  assertLeads(await person.send(SECURITY, SECURITY, fields), `${SECURITY}?done=password`)
  assertLeads(
    await person.send(SECURITY, SECURITY, { do: 'unlink-provider.github' }),
    `${SECURITY}?done=provider-unlinked`,
  )
})

test('a sign-in undoes the deletion of the account only if the user chooses it', async () => {
  const member = await makeMember(t)
  const code = newId()
  await link(member, code)
  assert.equal((await t.as(member).delete(`/v3/user/${member.id}`)).statusCode, 204)
  const refused = await enter(code)
  assertSays(refused, 403, 'Keep my account and sign in with GitHub')
  assertLeads(await answerAs(visitor(t), { provider: 'github', code, undoDeletion: true }), '/account')
})

test('forms that need the owner lead users without a password to the security settings', async () => {
  const member = await makeMember(t)
  await link(member, newId())
  await t.deps.db.updateTable('account').set({ password_hash: null }).where('id', '=', member.id).execute()
  t.advance(10 * MINUTE_MS + 1)
  assertSays(await visitor(t, member.token).get('/account/data'), 200, 'Confirm with GitHub')
})

test('a provider does not confirm an account that has a password or a passkey', async () => {
  const member = await makeMember(t)
  const code = newId()
  await link(member, code)
  const person = visitor(t, member.token)
  assertSays(await answerAs(person, { provider: 'github', purpose: 'confirm', code }), 401, 'does not confirm')
  await t.deps.db.updateTable('account').set({ password_hash: null }).where('id', '=', member.id).execute()
  await addPasskey(t, member)
  assertSays(await answerAs(person, { provider: 'github', purpose: 'confirm', code }), 401, 'does not confirm')
})

test('of two sign-ups with one sign-in at a provider, one succeeds', async () => {
  const code = newId()
  service.users.set(code, { email: `${newId()}@example.org`, verified: true })
  const person = visitor(t)
  const back = await answerAs(person, { provider: 'github', code })
  const names = [`n-${newId()}`, `n-${newId()}`]
  const answers = await Promise.all(
    names.map((username) => person.sendFrom(back, SIGN_UP, { username, email: `${username}@example.org` })),
  )
  assert.deepEqual(
    answers
      .map(({ statusCode }) => statusCode)
      .sort()
      .at(0),
    303,
  )
  assert.equal(answers.filter(({ statusCode }) => statusCode === 303).length, 1)
})
