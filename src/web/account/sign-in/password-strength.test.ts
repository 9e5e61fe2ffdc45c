// The strength of new passwords, as the script of the forms shows it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { mailedFlow, makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

const PATH = '/account/password-strength'

const t = await testApp()
after(() => t.close())

/** Sends a password with the hidden fields of a form, as its script does. */
async function rate(who: Visitor, form: { page: string; action: string }, fields: Record<string, string>) {
  return who.post(PATH, { ...hiddenFields(await who.get(form.page), form.action), ...fields })
}

const SIGN_UP = { page: '/account/sign-up', action: '/account/sign-up' }

test('the words name the weakness of a password, and know the name and address that were typed', async () => {
  const person = visitor(t)
  const about = { username: 'miraculix', email: 'getafix@example.org' }
  for (const [password, words] of [
    ['', '8 more characters are needed.'],
    ['lantern', 'One more character is needed.'],
    ['miraculix1', 'It repeats your username or email address'],
    ['getafix-at', 'It repeats your username or email address'],
    ['vbnmkjhg', 'Keys next to each other'],
    ['password1', 'frequent password'],
    ['lantern glass orbit', 'A strong password.'],
  ] as const) {
    const { statusCode, body, headers } = await rate(person, SIGN_UP, { ...about, password })
    assert.equal(statusCode, 200)
    assert.ok(body.includes(words), `${password}: ${body}`)
    assert.doesNotMatch(body, /<html/)
    assert.equal(headers['cache-control'], 'no-store')
    if (password !== '') assert.ok(!body.includes(password))
  }
  person.cookies.set('__Host-depot-language', 'de')
  assert.match((await rate(person, SIGN_UP, { password: 'kurz' })).body, /Es fehlen noch 4 Zeichen/)
})

test('a session and a link in an email name the account', async () => {
  const member = await makeMember(t, { username: 'obelisk.menhir' })
  const signedIn = visitor(t)
  await signedIn.send('/account/sign-in', '/account/sign-in', { username: 'obelisk.menhir', password: PASSWORD })
  const security = { page: '/account/security', action: '/account/security' }
  const own = await rate(signedIn, security, { password: 'obelisk.menhir1', username: 'other' })
  assert.match(own.body, /It repeats your username/)
  const forgetful = visitor(t)
  const forgotten = '/account/forgot-password'
  await forgetful.send(forgotten, forgotten, { username: 'obelisk.menhir' })
  const reset = '/account/reset-password'
  const link = `${reset}?flow=${await mailedFlow(t, member.email, /Reset/)}`
  const linked = await rate(forgetful, { page: link, action: reset }, { password: 'obelisk.menhir1' })
  assert.match(linked.body, /It repeats your username/)
  const unknown = await rate(
    forgetful,
    { page: `${reset}?flow=unknown`, action: reset },
    { password: 'obelisk.menhir1' },
  )
  assert.doesNotMatch(unknown.body, /It repeats your username/)
})

test('a rating needs the token of a form, and counts as three requests; a GET leads to the account', async () => {
  const stranger = visitor(t)
  assert.equal((await stranger.post(PATH, { password: 'lantern glass orbit' })).statusCode, 403)
  const { headers } = await stranger.get(PATH)
  assert.equal(headers.location, '/account')
  const form = await stranger.get('/account/sign-up')
  const fields = { ...hiddenFields(form, '/account/sign-up'), password: 'lantern glass orbit' }
  const without = { 'x-ratelimit-key': '' }
  const left = async () => Number((await stranger.post(PATH, fields, without)).headers['x-ratelimit-remaining'])
  // The budget recovers with time.
  t.freeze()
  assert.equal((await left()) - (await left()), 3)
  t.thaw()
})

test('a password of any length and script is rated', async () => {
  const person = visitor(t)
  for (const password of ['x'.repeat(5000), '🏮'.repeat(9), 'ключ от маяка гавани', '<script>alert(1)</script>']) {
    const { statusCode, body } = await rate(person, SIGN_UP, { password })
    assert.equal(statusCode, 200, password)
    assert.doesNotMatch(body, /<script/)
  }
})
