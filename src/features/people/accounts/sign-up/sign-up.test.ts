import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { BYPASS_KEY, testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  mailsTo,
  makeMember,
  PASSWORD,
  signIn,
  statuses,
} from '#test/support/http/account-steps.ts'

const CREATE = '/_internal/auth/create'
const VALIDATE = '/_internal/auth/create/validate'

const t = await testApp()
after(() => t.close())

const create = (body: Record<string, unknown>) => t.anyone.post(CREATE, body)
const fresh = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })

async function accountCount(): Promise<number> {
  return (await t.deps.db.selectFrom('account').select('id').execute()).length
}

test('signing up returns a session whose secret works immediately', async () => {
  const answer = await t.anyone.post(CREATE, fresh('mira'), {
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  })
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const session = answer.json()
  assert.match(session.session, /^dps_[0-9A-Za-z]{60}$/)
  assert.deepEqual([session.os, session.platform, session.ip, session.current], ['Linux', 'Firefox', '127.0.0.1', true])
  const days = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / DAY_MS
  assert.deepEqual([days(session.created, session.expires), days(session.created, session.refresh_expires)], [14, 60])

  const user = (await t.as({ token: session.session }).get('/v3/user')).json()
  assert.deepEqual(
    [user.id, user.username, user.email, user.role, user.has_password, user.has_totp],
    [session.user_id, 'mira', 'mira@example.org', 'developer', true, false],
  )
})

test('without SMTP, the email address counts as verified and no message is queued', async () => {
  const { session: token } = (await create(fresh('offline'))).json()
  assert.equal((await t.as({ token }).get('/v3/user')).json().email_verified, true)
  await t.runJobs()
  assert.deepEqual(await t.mails(), [])
})

test('neither the password nor the secret is stored', async () => {
  const { user_id: id, session: token } = (await create(fresh('keeper'))).json()
  const { rows } = await sql<{ text: string }>`
    select account::text || session::text as text from account join session on session.account_id = account.id
    where account.id = ${id}`.execute(t.deps.db)
  assert.equal(rows.length, 1)
  assert.ok(!rows[0]?.text.includes(PASSWORD) && !rows[0]?.text.includes(token.slice(4)))
  assert.match(rows[0]?.text ?? '', /\$argon2id\$v=19\$m=32768,t=3,p=1\$/)
})

test('both prefixes lead to the same handlers', async () => {
  assert.equal((await t.anyone.post('/v2/_internal/auth/create', fresh('second-mount'))).statusCode, 201)
  assertError(await t.anyone.post('/v2/_internal/auth/create', fresh('second-mount')), 409, 'conflict', 'username')
  assert.equal((await t.anyone.get('/v2/_internal/globals')).statusCode, 200)
})

test('usernames are checked at their limits', async () => {
  const valid = fresh('bounds')
  const bad = ['', 'a'.repeat(40), 'with space', 'ünïcode', 'at@sign', '..', 7, true, null, [], ABSENT]
  await assertRefusedValues(create, valid, 'username', bad)
  for (const username of ['Z', `${'a'.repeat(38)}Q`])
    assert.equal((await create({ ...valid, username, email: `${username}@example.org` })).statusCode, 201)
})

test('email addresses are checked at their limits', async () => {
  const valid = fresh('address-bounds')
  const labels = `${'d'.repeat(60)}.`.repeat(5)
  const domain = (length: number) => `${labels.slice(0, length - 4)}.org`
  const bad = [
    '',
    'plain',
    '@example.org',
    'a@',
    'a b@example.org',
    'a@b@example.org',
    `${'l'.repeat(65)}@example.org`,
    `${'l'.repeat(64)}@${domain(190)}`,
    'x@example.org\r\nBcc: y@example.org',
    7,
    null,
    ABSENT,
  ]
  await assertRefusedValues(create, valid, 'email', bad)
  const longest = `${'l'.repeat(64)}@${domain(189)}`
  assert.equal(longest.length, 254)
  assert.equal((await create({ ...valid, email: longest })).statusCode, 201)
})

test('passwords are checked at their limits, counted in characters', async () => {
  const valid = fresh('password-bounds')
  const long = 'kR7$wq2!zPvN'.repeat(22)
  await assertRefusedValues(create, valid, 'password', ['x7$Kq!z', long.slice(0, 257), '', 12_345_678, null, ABSENT])
  // Eight plain characters are long enough, but no eight of them are hard enough to guess.
  assert.match((await create({ ...valid, password: 'x7$Kq!zW' })).json().description, /too easy to guess/)
  assert.equal((await create({ ...fresh('shortest'), password: 'x7$Kq!zWp' })).statusCode, 201)
  assert.equal((await create({ ...fresh('longest'), password: long.slice(0, 256) })).statusCode, 201)
  assert.equal((await create({ ...fresh('astral'), password: '🜁🜂🜃🜄🜔🜍🜛🜚' })).statusCode, 201)
  assert.equal((await signIn(t, 'longest', long.slice(0, 256))).statusCode, 200)
})

test('a guessable password is rejected, also when it is only the own name or address', async () => {
  const valid = fresh('wanda-kestrel')
  for (const password of [
    'password1234',
    'aaaaaaaaaaaaaaaaaaaa',
    'wanda-kestrel',
    'Wanda-Kestrel1',
    'wanda-kestrel@example.org',
  ])
    assertError(await create({ ...valid, password }), 400, 'validation_error', 'password')
})

test('a password composed of other code points is the same password', async () => {
  const composed = 'crème brûlée 41 tables'.normalize('NFC')
  await create({ ...fresh('composer'), password: composed })
  assert.equal((await signIn(t, 'composer', composed.normalize('NFD'))).statusCode, 200)
})

test('names and email addresses are unique whatever their case, and a name cannot be an ID', async () => {
  const { id } = await makeMember(t, { username: 'Unique' })
  assertError(await create({ ...fresh('uNIQUE'), email: 'free@example.org' }), 409, 'conflict', 'username')
  assertError(await create({ ...fresh(id), email: 'free@example.org' }), 409, 'conflict', 'username')
  assertError(await create({ ...fresh('free'), email: 'UNIQUE@example.ORG' }), 409, 'conflict', 'email')
})

test('of parallel sign-ups with one name or one address a single one succeeds, and nothing of the others stays', async () => {
  const before = await accountCount()
  const names = await Promise.all(
    Array.from({ length: 4 }, (_, i) => create({ ...fresh('racer'), email: `racer${i}@example.org` })),
  )
  assert.deepEqual(statuses(names), [201, 409, 409, 409])
  const addresses = await Promise.all(
    Array.from({ length: 4 }, (_, i) => create({ ...fresh(`runner${i}`), email: 'runner@example.org' })),
  )
  assert.deepEqual(statuses(addresses), [201, 409, 409, 409])
  assert.equal(await accountCount(), before + 2)
})

test('programs that fill in the field people do not see are rejected', async () => {
  assertError(await create({ ...fresh('robot'), account_consent: true }), 400, 'validation_error', 'account_consent')
  assertError(await create({ ...fresh('robot'), account_consent: 'no' }), 400, 'validation_error', 'account_consent')
  assert.equal((await create({ ...fresh('person'), account_consent: false, sign_up_newsletter: true })).statusCode, 201)
})

test('validating says the same as signing up and changes nothing', async () => {
  await makeMember(t, { username: 'taken' })
  const before = await accountCount()
  const validate = (body: Record<string, unknown>) => t.anyone.post(VALIDATE, body)
  assert.equal((await validate(fresh('not-taken'))).statusCode, 204)
  assertError(await validate(fresh('taken')), 409, 'conflict', 'username')
  assertError(await validate({ ...fresh('not-taken'), email: 'taken@example.org' }), 409, 'conflict', 'email')
  assertError(await validate({ ...fresh('not-taken'), password: 'password1234' }), 400, 'validation_error', 'password')
  assertError(
    await validate({ ...fresh('not-taken'), account_consent: true }),
    400,
    'validation_error',
    'account_consent',
  )
  await assertRefusedValues(validate, fresh('not-taken'), 'email', ['plain', 5, null, ABSENT])
  assert.equal(await accountCount(), before)
})

test('bodies that are not JSON, empty or of another kind are rejected', async () => {
  const json = { headers: { 'content-type': 'application/json' } }
  assertError(await t.anyone.post(CREATE, '', json), 400, 'json_error')
  assertError(await t.anyone.post(CREATE, '{"username"', json), 400, 'json_error')
  assertError(
    await t.anyone.post(CREATE, 'username=mira', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    400,
    'invalid_input',
  )
  assertError(await create({ ...fresh('nul'), username: 'a\u0000b' }), 400, 'validation_error', 'username')
  assertError(await t.anyone.post(CREATE, '[]', json), 400, 'validation_error')
})

test('closed registration is reported, and existing users can sign in', async () => {
  const closed = await testApp({ env: { REGISTRATION: 'closed' } })
  try {
    const answer = await closed.anyone.post(CREATE, fresh('latecomer'))
    assertError(answer, 403, 'unauthorized')
    assertError(await closed.anyone.post(VALIDATE, fresh('latecomer')), 403, 'unauthorized')
    assert.deepEqual((await closed.anyone.get('/_internal/globals')).json(), {
      captcha_enabled: false,
      registration_open: false,
      email_verification_required: false,
      tax_compliance_thresholds: {},
    })
  } finally {
    await closed.close()
  }
})

test('a password that repeats the name or the address is rejected, however it is written', async () => {
  const username = 'Quillfeather.Xq'
  const email = 'vantablack-moth@example.org'
  for (const password of [
    'quillfeather.xqQuillfeather.Xq',
    'QUILLFEATHER-XQ-quillfeather',
    'vantablack-moth@example.org',
    'quillfeather vantablack 7Kz',
  ]) {
    const answer = await create({ username, email, password })
    assertError(answer, 400, 'validation_error', 'password')
    assert.match(answer.json().details.message, /must have at least 8 characters in addition to the username/)
  }
  assert.equal((await create({ username, email, password: `quillfeather ${PASSWORD}` })).statusCode, 201)
})

const from = (address: string, payload: object, url = '/_internal/auth/create') =>
  t.inject({
    method: 'POST',
    url,
    payload,
    remoteAddress: address,
    headers: { 'user-agent': 'depot-tests/1.0 (tests)', 'x-ratelimit-key': BYPASS_KEY },
  })

test('a list of email addresses cannot be checked: after five answers, every address gets the same one', async () => {
  const owner = await makeMember(t)
  const taken = (n: number) => ({ ...fresh(`checker-${n}`), email: owner.email.toUpperCase() })
  for (let n = 1; n <= 5; n += 1) assertError(await from(`203.0.113.${n}`, taken(n)), 409, 'conflict', 'email')
  const other = fresh('free-address')
  const [known, unknown] = [await from('203.0.113.9', taken(6)), await from('203.0.113.10', other)]
  assertError(known, 401, 'unauthorized', 'email_key')
  assert.deepEqual([unknown.statusCode, unknown.body], [401, known.body])
  assert.equal((await from('203.0.113.9', taken(7), '/_internal/auth/create/validate')).statusCode, 204)
  assertError(await t.anyone.get('/v3/user/free-address'), 404, 'not_found')
  assertError(await from('198.51.100.1', taken(8)), 409, 'conflict', 'email')
  assert.equal((await mailsTo(t, owner.email, /already have an account/)).length, 1)
  const [mail = ''] = await mailsTo(t, other.email, /Continue your sign-up/)
  const link = new URL(/^(https:\/\/depot\.test\/\S+)\r$/m.exec(mail)?.[1] ?? assert.fail(mail))
  assert.equal(link.searchParams.get('email'), other.email)
  const email_key = link.searchParams.get('key') ?? ''
  const page = await t.anyone.get(`${link.pathname}${link.search}`)
  assert.ok(page.body.includes(`name="email_key" value="${email_key}"`))
  const wrong = { ...taken(9), email_key }
  assert.equal((await from('203.0.113.10', wrong)).statusCode, 401)
  assert.equal((await from('203.0.113.10', { ...other, email_key })).statusCode, 201)
  t.advance(HOUR_MS)
  assertError(await from('203.0.113.9', taken(10)), 409, 'conflict', 'email')
})

test('a list cannot be checked by changes of the email address either', async () => {
  const [owner, curious] = [await makeMember(t), await makeMember(t)]
  const change = (email: string) => t.as(curious).patch('/_internal/auth/email', { email, password: PASSWORD })
  t.advance(HOUR_MS)
  for (let n = 0; n < 5; n += 1) assertError(await change(owner.email), 409, 'conflict', 'email')
  for (const email of [owner.email, `free-${curious.id}@example.org`])
    assertError(await change(email), 429, 'ratelimit_error')
  t.advance(HOUR_MS)
})
