import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { hashToken } from '#lib/access/tokens.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  enableTwoFactor,
  type Member,
  mailsTo,
  makeMember,
  PASSWORD,
  signIn,
  statuses,
  totpCode,
} from '#test/support/http/account-steps.ts'

const SECRET = '/_internal/auth/2fa/get_secret'
const TWO_FACTOR = '/_internal/auth/2fa'
const LOGIN_2FA = '/_internal/auth/login/2fa'

const t = await testApp()
after(() => t.close())

const withCode = (flow: string, code: string) => t.anyone.post(LOGIN_2FA, { flow, code })

/** The flow of a sign-in that waits for its second factor. */
async function startSignIn(member: Member): Promise<string> {
  const answer = await signIn(t, member.username)
  assert.equal(answer.statusCode, 200)
  const { error, description, flow } = answer.json()
  assert.deepEqual([error, typeof description, answer.json().session], ['2fa_required', 'string', undefined])
  return flow
}

async function protectedMember(): Promise<Member & { secret: string; backupCodes: string[] }> {
  const member = await makeMember(t)
  return { ...member, ...(await enableTwoFactor(t, member)) }
}

test('turning it on gives a secret, six backup codes and a message', async () => {
  const member = await makeMember(t)
  const { secret, uri, flow } = (await t.as(member).post(SECRET)).json()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.match(uri, /^otpauth:\/\/totp\/Depot/)
  const answer = await t.as(member).post(TWO_FACTOR, { flow, code: totpCode(t, secret) })
  assert.equal(answer.statusCode, 200)
  const codes: string[] = answer.json().backup_codes
  assert.equal(new Set(codes).size, 6)
  for (const code of codes) assert.match(code, /^[2-9a-hjkmnp-z]{4}(-[2-9a-hjkmnp-z]{4}){2}$/)
  assert.equal((await t.as(member).get('/v3/user')).json().has_totp, true)
  assert.equal((await mailsTo(t, member.email, /two-factor sign-in is on/)).length, 1)
  assertError(await t.as(member).post(SECRET), 400, 'invalid_input')
})

test('a sign-in then needs a code, and the code makes a session', async () => {
  const member = await protectedMember()
  const answer = await withCode(await startSignIn(member), totpCode(t, member.secret))
  assert.equal(answer.statusCode, 200)
  assert.equal((await t.as({ token: answer.json().session }).get('/v3/user')).json().id, member.id)
  const flow = await startSignIn(member)
  t.advance(30_000)
  assert.equal(
    (await t.anyone.post(`/v2${LOGIN_2FA}`, { flow, code: totpCode(t, member.secret).replace(/^.../, '$& ') }))
      .statusCode,
    200,
  )
})

test('setting up needs the right code, the own flow and half an hour at most', async () => {
  const [member, other] = [await makeMember(t), await makeMember(t)]
  const { secret, flow } = (await t.as(member).post(SECRET)).json()
  const enable = (person: Member, code: string) => t.as(person).post(TWO_FACTOR, { flow, code, password: PASSWORD })
  assertError(await enable(member, totpCode(t, secret, 20)), 401, 'invalid_credentials')
  assertError(await enable(other, totpCode(t, secret)), 401, 'invalid_credentials')
  assertError(
    await t.as(member).post(TWO_FACTOR, { flow: 'unknown', code: totpCode(t, secret) }),
    401,
    'invalid_credentials',
  )
  t.advance(30 * MINUTE_MS + 1)
  assertError(await enable(member, totpCode(t, secret)), 401, 'invalid_credentials')
  assert.equal((await t.as(member).get('/v3/user')).json().has_totp, false)
})

test('of parallel set-ups with one flow a single one succeeds', async () => {
  const member = await makeMember(t)
  const { secret, flow } = (await t.as(member).post(SECRET)).json()
  const code = totpCode(t, secret)
  const answers = await Promise.all([1, 2, 3].map(() => t.as(member).post(TWO_FACTOR, { flow, code })))
  assert.deepEqual(statuses(answers), [200, 400, 400])
})

test('accepts codes of the adjacent half minutes, but no older or newer ones', async () => {
  const member = await protectedMember()
  for (const [steps, status] of [
    [-2, 401],
    [2, 401],
    [1, 200],
  ] as const) {
    const answer = await withCode(await startSignIn(member), totpCode(t, member.secret, steps))
    assert.equal(answer.statusCode, status, `${steps} steps away`)
  }
  t.advance(120_000)
  assert.equal((await withCode(await startSignIn(member), totpCode(t, member.secret, -1))).statusCode, 200)
})

test('a code works once, also when two sign-ins use it at the same moment', async () => {
  const member = await protectedMember()
  const flows = [await startSignIn(member), await startSignIn(member)]
  const code = totpCode(t, member.secret)
  assert.deepEqual(statuses(await Promise.all(flows.map((flow) => withCode(flow, code)))), [200, 401])
  assertError(await withCode(await startSignIn(member), code), 401, 'invalid_credentials')
  // Nor does one that is older than the newest used.
  assertError(await withCode(await startSignIn(member), totpCode(t, member.secret, -1)), 401, 'invalid_credentials')
})

test('a flow works once, also at the same moment, and for half an hour', async () => {
  const member = await protectedMember()
  const flow = await startSignIn(member)
  const codes = member.backupCodes.slice(0, 2)
  const answers = await Promise.all(codes.map((code) => withCode(flow, code)))
  assert.deepEqual(statuses(answers), [200, 401])
  // The code that came too late was given back.
  const spare = codes[answers[0]?.statusCode === 200 ? 1 : 0] ?? ''
  assert.equal((await withCode(await startSignIn(member), spare)).statusCode, 200)
  const late = await startSignIn(member)
  t.advance(30 * MINUTE_MS + 1)
  assertError(await withCode(late, totpCode(t, member.secret)), 401, 'invalid_credentials')
})

test('a backup code works once, also at the same moment', async () => {
  const member = await protectedMember()
  const [code = '', other = '', third = ''] = member.backupCodes
  const flows = [await startSignIn(member), await startSignIn(member)]
  assert.deepEqual(statuses(await Promise.all(flows.map((flow) => withCode(flow, code)))), [200, 401])
  assertError(await withCode(await startSignIn(member), code), 401, 'invalid_credentials')
  assertError(await withCode(await startSignIn(member), `${other.slice(0, -1)}?`), 401, 'invalid_credentials')
  assert.equal((await withCode(await startSignIn(member), other.toUpperCase().replaceAll('-', ' '))).statusCode, 200)
  assert.equal((await withCode(await startSignIn(member), third.replaceAll('-', ''))).statusCode, 200)
  const notices = await mailsTo(t, member.email, /backup code was used/)
  assert.match(notices.at(-1) ?? '', /Remaining backup codes: 3/)
  assert.equal(notices.length, 3)
})

test('codes of earlier versions work as they were shown', async () => {
  const member = await protectedMember()
  const code = 'aB3dE5gH7jK'
  await t.deps.db
    .insertInto('backup_code')
    .values({ account_id: member.id, code_hash: hashToken(code) })
    .execute()
  assertError(await withCode(await startSignIn(member), code.toLowerCase()), 401, 'invalid_credentials')
  assert.equal((await withCode(await startSignIn(member), code)).statusCode, 200)
})

const CODES = '/_internal/auth/2fa/backup-codes'

test('backup codes are counted and renewed, and the previous ones stop working', async () => {
  const member = await protectedMember()
  const remaining = async () => (await t.as(member).get(CODES)).json().remaining
  assert.equal(await remaining(), 6)
  await withCode(await startSignIn(member), member.backupCodes[0] ?? '')
  assert.equal(await remaining(), 5)
  const renewed = await t.as(member).post(CODES)
  assert.equal(renewed.statusCode, 200, renewed.body)
  assert.equal(await remaining(), 6)
  assertError(await withCode(await startSignIn(member), member.backupCodes[1] ?? ''), 401, 'invalid_credentials')
  assert.equal((await withCode(await startSignIn(member), renewed.json().backup_codes[0])).statusCode, 200)
  t.advance(10 * MINUTE_MS + 1)
  assertError(await t.as(member).post(CODES), 401, 'unauthorized', 'password')
  assertError(await t.as(member).post(CODES, { password: PASSWORD }), 401, 'unauthorized', 'code')
  const plain = await makeMember(t)
  assertError(await t.as(plain).post(CODES), 400, 'invalid_input')
})

test('wrong codes count as failed sign-ins, and the right password does not forgive them', async () => {
  const member = await protectedMember()
  for (let i = 0; i < 10; i += 1) {
    assertError(
      await withCode(await startSignIn(member), totpCode(t, member.secret, 50 + i)),
      401,
      'invalid_credentials',
    )
  }
  const answer = await signIn(t, member.username)
  assertError(answer, 429, 'ratelimit_error')
  assert.ok(Number(answer.headers['retry-after']) > 800)
  t.advance(16 * MINUTE_MS)
  assert.equal((await withCode(await startSignIn(member), totpCode(t, member.secret))).statusCode, 200)
})

test('code and flow are checked at their limits', async () => {
  const valid = { code: '123456', flow: 'abc' }
  const member = await makeMember(t)
  for (const send of [
    (body: Record<string, unknown>) => t.anyone.post(LOGIN_2FA, body),
    (body: Record<string, unknown>) => t.as(member).post(TWO_FACTOR, body),
  ]) {
    await assertRefusedValues(send, valid, 'code', ['1'.repeat(33), 123_456, null, ABSENT])
    await assertRefusedValues(send, valid, 'flow', ['f'.repeat(129), 5, null, ABSENT])
    for (const body of [
      { code: '', flow: '' },
      { code: '1'.repeat(32), flow: 'f'.repeat(128) },
    ])
      assertError(await send(body), 401, 'invalid_credentials')
  }
})

test('turning it off requires a code or a backup code, ends unfinished sign-ins and sends an email', async () => {
  const member = await protectedMember()
  const waiting = await startSignIn(member)
  const remove = (code: unknown) => t.as(member).delete(TWO_FACTOR, { code })
  await assertRefusedValues((body) => t.as(member).delete(TWO_FACTOR, body), {}, 'code', [
    '1'.repeat(33),
    6,
    null,
    ABSENT,
  ])
  assertError(await remove(totpCode(t, member.secret, 9)), 401, 'invalid_credentials')
  assert.equal((await remove(totpCode(t, member.secret))).statusCode, 204)
  assertError(await remove(totpCode(t, member.secret)), 400, 'invalid_input')
  assertError(await withCode(waiting, member.backupCodes[0] ?? ''), 401, 'invalid_credentials')
  assert.equal((await signIn(t, member.username, PASSWORD)).json().user_id, member.id)
  assert.equal((await mailsTo(t, member.email, /two-factor sign-in is off/)).length, 1)

  const again = await protectedMember()
  assert.equal((await t.as(again).delete(TWO_FACTOR, { code: again.backupCodes[5] })).statusCode, 204)
})

test('guessing codes with a stolen session is throttled too', async () => {
  const member = await protectedMember()
  for (let i = 0; i < 10; i += 1) await t.as(member).delete(TWO_FACTOR, { code: totpCode(t, member.secret, 70 + i) })
  assertError(await t.as(member).delete(TWO_FACTOR, { code: totpCode(t, member.secret) }), 429, 'ratelimit_error')
})

test('set-up and removal need a session or a token with USER_AUTH_WRITE', async () => {
  const member = await makeMember(t)
  const weak = t.as(await t.make.pat(member, ALL_SCOPES - 16))
  for (const call of [
    (client: typeof weak) => client.post(SECRET),
    (client: typeof weak) => client.post(TWO_FACTOR, { code: '123456', flow: 'x' }),
    (client: typeof weak) => client.delete(TWO_FACTOR, { code: '123456' }),
  ]) {
    assertError(await call(t.anyone), 401, 'unauthorized')
    const refused = await call(weak)
    assertError(refused, 403, 'unauthorized')
    assert.match(refused.json().description, /USER_AUTH_WRITE/)
  }
})
