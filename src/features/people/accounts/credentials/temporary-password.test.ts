// Temporary passwords, which the command line generates: the user must choose another one at the first sign-in.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import {
  assertError,
  enableTwoFactor,
  type Member,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  totpCode,
} from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const CHANGE = '/_internal/auth/password'
const SIGN_IN = '/account/sign-in'
const RESET = '/account/reset-password'

const t = await testApp()
after(() => t.close())

/** Runs a command on the database of the application, and returns its result. */
async function command(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { dataDir, database } = t.deps.config
  assert.ok(database.kind === 'external')
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url.reveal() }
  const { code, stdout, stderr } = await commandHere([...args, '--json'], env)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function memberWithTemporaryPassword(): Promise<Member & { temporary: string }> {
  const member = await makeMember(t)
  const { temporary_password: temporary } = await command('user', 'password', member.id, '--random-password')
  return { ...member, temporary }
}

test('a new account with a temporary password gets a session only after its user has chosen another one', async () => {
  const words = ['user', 'create', '--username', 'invited', '--email', 'invited@example.org', '--random-password']
  const { id, temporary_password: temporary } = await command(...words)
  assert.match(temporary, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
  const answer = await signIn(t, 'invited', temporary)
  assert.equal(answer.statusCode, 200)
  const { error, flow, ...rest } = answer.json()
  assert.deepEqual([error, Object.keys(rest)], ['password_change_required', ['description']])
  const { rows } = await t.deps.pool.query('select 1 from session where account_id = $1', [id])
  assert.equal(rows.length, 0)
  assertError(await t.anyone.patch(CHANGE, { flow, new_password: temporary }), 400, 'validation_error', 'new_password')
  assert.equal((await t.anyone.patch(CHANGE, { flow, new_password: OTHER_PASSWORD })).statusCode, 204)
  assertError(await signIn(t, 'invited', temporary), 401, 'invalid_credentials')
  const session = (await signIn(t, 'invited@example.org', OTHER_PASSWORD)).json()
  assert.equal((await t.as({ token: session.session }).get('/v3/user')).json().id, id)
  assert.equal((await command('user', 'show', 'invited')).has_temporary_password, false)
})

test('a temporary password in place of another one ends the sessions; a wrong password reveals nothing', async () => {
  const member = await memberWithTemporaryPassword()
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 401)
  assertError(await signIn(t, member.username, PASSWORD), 401, 'invalid_credentials')
  assert.equal((await command('user', 'show', member.id)).has_temporary_password, true)
  const { flow } = (await signIn(t, member.username, member.temporary)).json()
  const again = (await signIn(t, member.username, member.temporary)).json()
  assert.equal((await t.anyone.patch(CHANGE, { flow: again.flow, new_password: OTHER_PASSWORD })).statusCode, 204)
  assertError(await t.anyone.patch(CHANGE, { flow, new_password: PASSWORD }), 401, 'invalid_credentials')
})

test('an operator who sets a password ends the obligation', async () => {
  const member = await memberWithTemporaryPassword()
  await command('user', 'password', member.id, '--password', OTHER_PASSWORD)
  assert.equal(typeof (await signIn(t, member.username, OTHER_PASSWORD)).json().session, 'string')
})

test('with two-factor sign-in, the code comes before the new password', async () => {
  const member = await makeMember(t)
  const { secret } = await enableTwoFactor(t, member)
  const { temporary_password: temporary } = await command('user', 'password', member.id, '--random-password')
  const first = (await signIn(t, member.username, temporary)).json()
  assert.equal(first.error, '2fa_required')
  assertError(
    await t.anyone.patch(CHANGE, { flow: first.flow, new_password: OTHER_PASSWORD }),
    401,
    'invalid_credentials',
  )
  const second = await t.anyone.post('/_internal/auth/login/2fa', { flow: first.flow, code: totpCode(t, secret) })
  const { error, flow } = second.json()
  assert.equal(error, 'password_change_required')
  assert.equal((await t.anyone.patch(CHANGE, { flow, new_password: OTHER_PASSWORD })).statusCode, 204)
})

test('the page asks for another password before anything else', async () => {
  const member = await memberWithTemporaryPassword()
  const person = visitor(t)
  const fields = { username: member.username, password: member.temporary }
  const asked = await person.send(SIGN_IN, SIGN_IN, fields)
  assertSays(asked, 200, 'Your password is temporary')
  assertValidHtml(asked.body)
  assert.ok(!asked.body.includes(member.temporary))
  assertLeads(await person.get('/account'), `${SIGN_IN}?return=%2Faccount`)
  const same = await person.sendFrom(asked, RESET, { new_password: member.temporary })
  assertSays(same, 400, 'The password must differ from the temporary password')
  assertLeads(await person.sendFrom(same, RESET, { new_password: OTHER_PASSWORD }), `${SIGN_IN}?done=password-reset`)
  assertLeads(await person.send(SIGN_IN, SIGN_IN, { ...fields, password: OTHER_PASSWORD }), '/account')
  person.cookies.clear()
  person.cookies.set('__Host-depot-language', 'de')
  const next = await memberWithTemporaryPassword()
  const german = await person.send(SIGN_IN, SIGN_IN, { username: next.username, password: next.temporary })
  assertSays(german, 200, 'Dein Passwort ist vorläufig')
})

test('--random-password cannot be combined with a password', async () => {
  const { code, stderr } = await commandHere(['user', 'password', 'x', '--random-password', '--password', PASSWORD], {})
  assert.equal(code, 2)
  assert.match(stderr, /^--random-password cannot be combined with --password\n/)
})
