import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DAY_MS } from '#lib/time.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { listenForInvalidations } from '#platform/cache/listen.ts'
import { createRateGrants } from '#platform/http/limits/rate-grants.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())

const PATH = '/_internal/admin/rate-limits'
const operator = { 'x-admin-key': ADMIN_KEY }
const grant = (body: Record<string, unknown>) => t.anyone.post(PATH, body, { headers: operator })
const revoke = (id: string) => t.anyone.delete(`${PATH}/${id}`, undefined, { headers: operator })
const list = async () => (await t.anyone.get(PATH, { headers: operator })).json()

/** The limit in the headers of a request from this address, with this token. */
async function limitOf(remoteAddress: string, authorization?: string): Promise<number> {
  const headers = { 'user-agent': 'depot-tests/1.0', ...(authorization === undefined ? {} : { authorization }) }
  const answer = await t.inject({ method: 'GET', url: '/v3/games', headers, remoteAddress })
  return Number(answer.headers['x-ratelimit-limit'])
}

test('a grant for a range applies immediately to each address separately, until it is revoked', async () => {
  const made = await grant({ address_range: '192.0.2.77/24', requests_per_minute: 5, note: 'A mirror' })
  assert.equal(made.statusCode, 201, made.body)
  const { id, address_range, token_id, account_id, requests_per_minute, note } = made.json()
  assert.deepEqual(
    { address_range, token_id, account_id, requests_per_minute, note },
    { address_range: '192.0.2.0/24', token_id: null, account_id: null, requests_per_minute: 5, note: 'A mirror' },
  )
  assert.deepEqual(await list(), [made.json()])
  t.freeze()
  for (let i = 0; i < 5; i += 1) assert.equal(await limitOf('192.0.2.1'), 5)
  const headers = { 'user-agent': 'depot-tests/1.0' }
  const refused = await t.inject({ method: 'GET', url: '/v3/games', headers, remoteAddress: '192.0.2.1' })
  assertError(refused, 429, 'ratelimit_error')
  const neighbour = await t.inject({ method: 'GET', url: '/v3/games', headers, remoteAddress: '192.0.2.2' })
  assert.deepEqual([neighbour.statusCode, neighbour.headers['x-ratelimit-remaining']], [200, '4'])
  t.thaw()
  assert.equal(await limitOf('192.0.3.1'), 300)
  assert.equal((await revoke(id)).statusCode, 204)
  assert.equal(await limitOf('192.0.2.1'), 300)
  assert.deepEqual(await list(), [])
  assertError(await revoke(id), 404, 'not_found')
})

test('a narrow range comes before a wide one, IPv6 counts too, and IPv4 written as IPv6 is IPv4', async () => {
  const ids = []
  for (const [address_range, requests_per_minute] of [
    ['198.51.100.0/24', 400],
    ['198.51.100.7', 500],
    ['2001:db8::/32', 600],
    ['2001:db8:7::/48', 700],
  ])
    ids.push((await grant({ address_range, requests_per_minute })).json().id)
  assert.equal(await limitOf('198.51.100.8'), 400)
  assert.equal(await limitOf('198.51.100.7'), 500)
  assert.equal(await limitOf('::ffff:198.51.100.7'), 500)
  assert.equal(await limitOf('2001:db8:1::1'), 600)
  assert.equal(await limitOf('2001:db8:7::1'), 700)
  assert.equal(await limitOf('2001:db9::1'), 300)
  for (const id of ids) assert.equal((await revoke(id)).statusCode, 204)
})

test('a token has its rate wherever it is used, before that of a range, until it expires', async () => {
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const { id: token_id } = await t.deps.db
    .selectFrom('personal_access_token')
    .select('id')
    .where('account_id', '=', person.id)
    .executeTakeFirstOrThrow()
  const made = await grant({ token_id, requests_per_minute: 10_000 })
  assert.equal(made.statusCode, 201, made.body)
  assert.equal(made.json().account_id, person.id)
  const range = await grant({ address_range: '203.0.113.0/24', requests_per_minute: 900 })
  assert.equal(await limitOf('203.0.113.1', token), 10_000)
  assert.equal(await limitOf('10.9.8.7', `Bearer ${token}`), 10_000)
  assert.equal(await limitOf('203.0.113.1'), 900)
  assert.equal(await limitOf('203.0.113.1', person.token), 900, 'another token of the same account')
  assertError(await grant({ token_id, requests_per_minute: 20 }), 409, 'conflict', 'token_id')
  t.advance(2 * DAY_MS)
  assert.equal(await limitOf('203.0.113.1', token), 900)
  for (const each of [made, range]) await revoke(each.json().id)
})

test('only operators see the routes; an invalid grant is rejected with its field', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  for (const answer of [
    await t.anyone.get(PATH),
    await t.as(moderator).get(PATH),
    await t.as(moderator).post(PATH, { address_range: '192.0.2.0/24', requests_per_minute: 1 }),
    await t.anyone.delete(`${PATH}/aaaaaaaa`, undefined, { headers: { 'x-admin-key': 'wrong' } }),
  ])
    assertError(answer, 404, 'not_found')
  const admin = await t.make.account({ role: 'admin' })
  assert.equal((await t.as(admin).get(`/v2${PATH}`)).statusCode, 200)
  for (const address_range of [
    'x',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/1/2',
    '::/129',
    'fe80::1%eth0',
    '1.2.3',
    '::ffff:192.0.2.7',
  ])
    assertError(await grant({ address_range, requests_per_minute: 10 }), 400, 'validation_error', 'address_range')
  assertError(await grant({ token_id: 'zzzzzzzz', requests_per_minute: 10 }), 400, 'validation_error', 'token_id')
  assertError(await grant({ requests_per_minute: 10 }), 400, 'validation_error', 'token_id')
  const both = { token_id: 'zzzzzzzz', address_range: '192.0.2.0/24', requests_per_minute: 10 }
  assertError(await grant(both), 400, 'validation_error', 'token_id')
  for (const requests_per_minute of [0, 1_000_001, 1.5, '10', null]) {
    const answer = await grant({ address_range: '192.0.2.0/24', requests_per_minute })
    assertError(answer, 400, 'validation_error', 'requests_per_minute')
  }
  assert.equal((await list()).length, 0)
})

test('creates exactly one of several concurrent grants for a range', async () => {
  const tries = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => grant({ address_range: '198.18.0.0/15', requests_per_minute: n })),
  )
  assert.deepEqual(tries.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409, 409])
  assert.equal((await list()).length, 1)
  await revoke((await list())[0].id)
})

test('another process is notified of a grant, its end, and the end of a token that has a grant', async (context) => {
  const { pool, db, log, now } = t.deps
  const other = createRateGrants({ db, log, now })
  const listener = listenForInvalidations({
    connect: async () => {
      const client = new pg.Client(pool.options)
      await client.connect()
      return client
    },
    pool,
    cache: createEntityCache({ maxBytes: 1000 }),
    log,
    subscribers: other.subscribers,
  })
  context.after(() => listener.stop())
  await listener.ready
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const [{ id: token_id }] = (await t.as(person).get('/_internal/pat')).json()
  const hears = async (wanted: number | undefined, authorization?: string): Promise<void> => {
    const found = () => other.forRequest(authorization, '192.0.2.1')?.requestsPerMinute
    while (found() !== wanted) await sleep(10)
  }
  await hears(undefined)
  const range = (await grant({ address_range: '192.0.2.0/24', requests_per_minute: 800 })).json()
  await hears(800)
  await grant({ token_id, requests_per_minute: 900 })
  await hears(900, token)
  assert.equal((await t.as(person).delete(`/_internal/pat/${token_id}`)).statusCode, 204)
  await hears(800, token)
  await revoke(range.id)
  await hears(undefined)
})

test('answers that say "not modified" count, unless the operator says otherwise', async (context) => {
  const lenient = await testApp({ env: { RATE_LIMIT_COUNT_304: 'false' } })
  context.after(() => lenient.close())
  for (const [app, left] of [
    [t, 296],
    [lenient, 299],
  ] as const) {
    app.freeze()
    const get = (headers: Record<string, string>) =>
      app.inject({
        method: 'GET',
        url: '/v3/games',
        headers: { 'user-agent': 'depot-tests/1.0', ...headers },
        remoteAddress: '10.77.0.1',
      })
    const first = await get({})
    assert.equal(first.headers['x-ratelimit-remaining'], '299')
    const tag = { 'if-none-match': String(first.headers.etag) }
    await get(tag)
    await get(tag)
    const last = await get(tag)
    assert.deepEqual([last.statusCode, last.headers['x-ratelimit-remaining']], [304, String(left)])
    const wrong = await get({ 'if-none-match': '"other"' })
    assert.deepEqual([wrong.statusCode, wrong.headers['x-ratelimit-remaining']], [200, String(left - 1)])
    app.thaw()
  }
})
