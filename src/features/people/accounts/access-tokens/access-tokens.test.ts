import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_SCOPES, GRANTABLE_SCOPES, SCOPES, type ScopeName } from '#features/basics/access/scopes.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { type Client, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import {
  ABSENT,
  assertError,
  assertRefusedValues,
  mailsTo,
  makeMember,
  PASSWORD,
  statuses,
} from '#test/support/http/account-steps.ts'

const PAT = '/_internal/pat'
const USER_READ = 2
const COLLECTION_CREATE = 2 ** 31

const t = await testApp()
after(() => t.close())

const inDays = (days: number): string => new Date(t.deps.now() + days * DAY_MS).toISOString()
const valid = (fields: object = {}) => ({ name: 'build server', scopes: USER_READ, expires: inDays(30), ...fields })
const create = (person: Person, fields: object = {}) => t.as(person).post(PAT, valid(fields))
const works = async (token: string): Promise<boolean> => (await t.as({ token }).get('/v3/user')).statusCode === 200
const listOf = async (person: Person) => (await t.as(person).get(PAT)).json()

test('a new token is shown once, works immediately and is announced by email', async () => {
  const person = await t.make.account()
  const expires = inDays(30)
  const answer = await create(person, { expires })
  assert.equal(answer.statusCode, 201)
  const { access_token: token, ...rest } = answer.json()
  assert.match(token, /^dpp_[0-9A-Za-z]{60}$/)
  assert.deepEqual(
    [rest.name, rest.scopes, rest.user_id, rest.expires, rest.last_used],
    ['build server', USER_READ, person.id, expires, null],
  )
  assert.ok(await works(token))
  assert.deepEqual(await listOf(person), [{ ...rest, access_token: null }])
  const [mail = ''] = await mailsTo(t, person.email, /new access token/)
  assert.match(mail, /build server/)
  assert.ok(!mail.includes(token))
})

test('a token needs a password that was confirmed within ten minutes', async () => {
  const member = await makeMember(t)
  t.advance(10 * MINUTE_MS)
  const refused = await t.as(member).post(PAT, valid())
  assertError(refused, 401, 'unauthorized', 'password')
  assertError(await t.as(member).post(PAT, valid({ password: 'wrong' })), 401, 'invalid_credentials')
  assert.deepEqual(await (await t.as(member).get(PAT)).json(), [])
  assert.equal((await t.as(member).post(PAT, valid({ password: PASSWORD }))).statusCode, 201)
  assert.equal((await t.as(member).post(PAT, valid())).statusCode, 201)
})

test('a token can do what its scopes say and no more', async () => {
  const person = await t.make.account()
  const { access_token: token } = (await create(person, { scopes: COLLECTION_CREATE })).json()
  const refused = await t.as({ token }).get('/v3/user')
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /USER_READ/)
})

test('scopes above 2^31 are exact', async () => {
  const person = await t.make.account()
  for (const scopes of [
    0,
    1,
    COLLECTION_CREATE,
    COLLECTION_CREATE + 1,
    2 ** 38 + 2 ** 31 + 2,
    2 ** 47,
    GRANTABLE_SCOPES,
    280_923_090_190_311,
  ]) {
    const answer = await create(person, { scopes })
    assert.deepEqual([answer.statusCode, answer.json().scopes], [201, scopes], String(scopes))
    assert.equal((await listOf(person))[0].scopes, scopes)
  }
})

test('restricted and unknown scopes are rejected, and the restricted ones named', async () => {
  const person = await t.make.account()
  const send = (body: Record<string, unknown>) => t.as(person).post(PAT, body)
  for (const { name, value } of SCOPES.filter(({ restricted }) => restricted)) {
    const answer = await create(person, { scopes: USER_READ + value })
    assertError(answer, 400, 'validation_error', 'scopes')
    assert.ok(answer.json().description.endsWith(`: ${name}`))
  }
  assert.equal((await create(person, { scopes: 2 ** 30 })).statusCode, 201)
  const bad = [-1, 0.5, ALL_SCOPES, ALL_SCOPES + 1, 2 ** 50, 2 ** 53, 1e300, '2', true, null, ABSENT]
  await assertRefusedValues(send, valid(), 'scopes', bad)
})

test('name and expiry are checked at their limits', async () => {
  const person = await t.make.account()
  const send = (body: Record<string, unknown>) => t.as(person).post(PAT, body)
  await assertRefusedValues(send, valid(), 'name', ['ab', 'a'.repeat(256), '   ', '', 'nul\u0000', 5, null, ABSENT])
  const bad = [
    inDays(-1),
    new Date(t.deps.now()).toISOString(),
    inDays(10 * 366 + 1),
    '2030-13-01T00:00:00Z',
    '2030-01-01',
    'tomorrow',
    '',
    1_900_000_000,
    null,
    ABSENT,
  ]
  await assertRefusedValues(send, valid(), 'expires', bad)
  for (const name of ['abc', 'é'.repeat(255), '🜁🜂🜃']) assert.equal((await create(person, { name })).json().name, name)
  for (const expires of [
    new Date(t.deps.now() + MINUTE_MS).toISOString(),
    inDays(10 * 366),
    inDays(1).replace('Z', '+00:00'),
  ])
    assert.equal((await create(person, { expires })).statusCode, 201)
})

test('the list has the own tokens, newest first, expired ones too', async () => {
  const [person, stranger] = [await t.make.account(), await t.make.account()]
  await create(stranger)
  const ids: string[] = []
  for (const days of [1, 30, 30]) {
    ids.unshift((await create(person, { expires: inDays(days) })).json().id)
    t.advance(1_000)
  }
  t.advance(2 * DAY_MS)
  assert.deepEqual(
    (await listOf(person)).map(({ id }: { id: string }) => id),
    ids,
  )
})

test('renaming and extending work immediately; absent fields are unchanged', async () => {
  const person = await t.make.account()
  const { id, access_token: token } = (await create(person, { expires: inDays(1) })).json()
  assert.ok(await works(token))
  const patch = (body: object) => t.as(person).patch(`${PAT}/${id}`, body)
  const renamed = await patch({ name: 'renamed' })
  assert.deepEqual([renamed.statusCode, renamed.body], [204, ''])
  const expires = inDays(5)
  assert.equal((await patch({ expires })).statusCode, 204)
  assert.equal((await patch({})).statusCode, 204)
  // A later expiry is like a new token; an earlier one needs no password.
  const confirm = (confirmed_at: Date | null) =>
    t.deps.db.updateTable('session').set({ confirmed_at }).where('account_id', '=', person.id).execute()
  await confirm(null)
  assertError(await patch({ expires: inDays(6) }), 401, 'unauthorized', 'password')
  assert.equal((await patch({ expires: inDays(4) })).statusCode, 204)
  await confirm(new Date(t.deps.now()))
  assert.equal((await patch({ expires })).statusCode, 204)
  const [row] = await listOf(person)
  assert.deepEqual([row.name, row.expires], ['renamed', expires])
  t.advance(2 * DAY_MS)
  assert.ok(await works(token))
  t.advance(4 * DAY_MS)
  assert.equal(await works(token), false)
})

test('shortening the life of a token in use ends it in time', async () => {
  const person = await t.make.account()
  const { id, access_token: token } = (await create(person)).json()
  assert.ok(await works(token))
  await t.as(person).patch(`${PAT}/${id}`, { expires: new Date(t.deps.now() + 5_000).toISOString() })
  t.advance(6_000)
  assert.equal(await works(token), false)
})

test('scopes cannot be changed, and bad values change nothing', async () => {
  const person = await t.make.account()
  const { id } = (await create(person)).json()
  const patch = (body: Record<string, unknown>) => t.as(person).patch(`${PAT}/${id}`, body)
  for (const scopes of [USER_READ, 1, 'all'])
    assertError(await patch({ scopes, name: 'other' }), 400, 'validation_error', 'scopes')
  await assertRefusedValues(patch, {}, 'name', ['ab', 'a'.repeat(256), '   ', 5])
  await assertRefusedValues(patch, {}, 'expires', [inDays(-1), inDays(10 * 366 + 1), 'tomorrow', 5])
  assert.equal((await listOf(person))[0].name, 'build server')
})

test('a revoked token fails immediately although it was in use; its ID or its secret identifies it', async () => {
  const person = await t.make.account()
  const [one, two] = [(await create(person)).json(), (await create(person)).json()]
  assert.ok((await works(one.access_token)) && (await works(two.access_token)))
  assert.equal((await t.as(person).delete(`${PAT}/${one.id}`)).statusCode, 204)
  assert.equal((await t.as(person).delete(`/v2${PAT}/${two.access_token}`)).statusCode, 204)
  assert.deepEqual([await works(one.access_token), await works(two.access_token)], [false, false])
  assert.deepEqual(await listOf(person), [])
  assertError(await t.as(person).delete(`${PAT}/${one.id}`), 404, 'not_found')
})

test("rejects another user's token, an unknown one and an invalid ID", async () => {
  const [person, stranger] = [await t.make.account(), await t.make.account()]
  const { id, access_token: token } = (await create(stranger)).json()
  for (const call of [
    (name: string) => t.as(person).delete(`${PAT}/${name}`),
    (name: string) => t.as(person).patch(`${PAT}/${name}`, { name: 'stolen' }),
  ]) {
    assertError(await call(id), 404, 'not_found')
    assertError(await call('zzzzzzzz'), 404, 'not_found')
    assertError(await call('not-base-62'), 400, 'decoding_error')
  }
  assertError(await t.as(person).delete(`${PAT}/${token}`), 404, 'not_found')
  assert.ok(await works(token))
  assert.equal((await listOf(stranger))[0].name, 'build server')
})

test('an account has at most 200 tokens, also when several are created concurrently', async () => {
  const person = await t.make.account()
  const { id } = (await create(person)).json()
  await t.deps.pool.query(
    `insert into personal_access_token (id, account_id, name, token_hash, scopes, expires)
     select 'bulk' || i, $1, 'bulk', decode(md5('bulk' || i), 'hex'), 0, now() from generate_series(1, 197) as i`,
    [person.id],
  )
  const times = Array.from({ length: 10 })
  // Opens the database connections first, so that the calls below really run concurrently.
  await Promise.all(times.map(() => t.as(person).get(PAT)))
  const answers = await Promise.all(times.map(() => create(person)))
  assert.deepEqual(statuses(answers), [201, 201, ...Array(8).fill(400)])
  assertError(await create(person), 400, 'LimitReached')
  await t.as(person).delete(`${PAT}/${id}`)
  assert.equal((await create(person)).statusCode, 201)
})

test('each route needs a token with its own scope', async () => {
  const person = await t.make.account()
  const { id } = (await create(person)).json()
  const calls: [ScopeName, (client: Client) => ReturnType<Client['get']>][] = [
    ['PAT_READ', (client) => client.get(PAT)],
    ['PAT_CREATE', (client) => client.post(PAT, valid())],
    ['PAT_WRITE', (client) => client.patch(`${PAT}/${id}`, { name: 'other' })],
    ['PAT_DELETE', (client) => client.delete(`${PAT}/${id}`)],
  ]
  for (const [scope, call] of calls) {
    assertError(await call(t.anyone), 401, 'unauthorized')
    const value = SCOPES.find(({ name }) => name === scope)?.value ?? 0
    const refused = await call(t.as(await t.make.pat(person, ALL_SCOPES - value)))
    assertError(refused, 403, 'unauthorized')
    assert.ok(refused.json().description.includes(scope))
  }
  const names = (await listOf(person)).map(({ name }: { name: string }) => name)
  assert.ok(names.includes('build server') && !names.includes('other'))
})

test('scopes are named by words as well as by the sum of their bits', async () => {
  const person = await t.make.account()
  const named = await create(person, { scopes: ['USER_READ', 'COLLECTION_CREATE', 'USER_READ'] })
  assert.deepEqual([named.statusCode, named.json().scopes], [201, USER_READ + COLLECTION_CREATE])
  assert.equal((await create(person, { scopes: [] })).json().scopes, 0)
  const at = async (scopes: unknown, field: string) =>
    assertError(await create(person, { scopes }), 400, 'validation_error', field)
  await at(['USER_READ', 'user_read'], 'scopes.1')
  await at(['__proto__'], 'scopes.0')
  await at(['USER_DELETE'], 'scopes')
  await at([5], 'scopes.0')
  await at(Array(100).fill('USER_READ'), 'scopes')
  const application = await t
    .as(person)
    .post('/_internal/oauth/app', {
      name: 'By words',
      max_scopes: ['USER_READ'],
      redirect_uris: ['https://words.example.org/back'],
    })
  assert.deepEqual([application.statusCode, application.json().max_scopes], [201, USER_READ], application.body)
  const path = `/_internal/oauth/app/${application.json().id}`
  assert.equal((await t.as(person).patch(path, { max_scopes: ['PROJECT_READ'] })).statusCode, 204)
  assert.equal((await t.anyone.get(path)).json().max_scopes, 2 ** 11)
  assertError(await t.as(person).patch(path, { max_scopes: ['NO_SUCH'] }), 400, 'validation_error', 'max_scopes.0')
})

test('a NUL in a key is named with its field', async () => {
  const person = await t.make.account()
  for (const [body, field] of [
    [{ ...valid(), 'bad\u0000key': 1 }, 'bad\uFFFDkey'],
    [{ ...valid(), more: { 'a\u0000': 1 } }, 'more.a\uFFFD'],
  ] as const)
    assertError(await t.as(person).post(PAT, body), 400, 'validation_error', field)
})
