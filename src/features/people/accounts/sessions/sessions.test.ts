import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_SCOPES, SCOPES, type ScopeName } from '#features/basics/access/scopes.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError, makeMember, signIn, statuses } from '#test/support/http/account-steps.ts'
import { describeUserAgent } from './user-agent.ts'

const LIST = '/_internal/session/list'
const REFRESH = '/_internal/session/refresh'

const t = await testApp()
after(() => t.close())

const works = async (token: string): Promise<boolean> => (await t.as({ token }).get('/v3/user')).statusCode === 200
const allBut = (name: ScopeName) => ALL_SCOPES - (SCOPES.find((scope) => scope.name === name)?.value ?? 0)

test('the list has the own sessions that work, newest first, marks the current one and shows no secret', async () => {
  const [member, stranger] = [await makeMember(t), await makeMember(t)]
  t.advance(5_000)
  const second = (await signIn(t, member.username)).json()
  t.advance(5_000)
  const third = (await signIn(t, member.username)).json()
  const list = (await t.as({ token: `Bearer ${second.session}` }).get(LIST)).json()
  assert.deepEqual(
    list.map(({ id, current, session }: Record<string, unknown>) => [id, current, session]),
    [
      [third.id, false, null],
      [second.id, true, null],
      [member.sessionId, false, null],
    ],
  )
  assert.ok(list.every(({ user_id }: { user_id: string }) => user_id === member.id))
  assert.deepEqual(
    (await t.as(stranger).get(`/v2${LIST}`)).json().map(({ id }: { id: string }) => id),
    [stranger.sessionId],
  )
  const { queries } = await t.queriesOf(() => t.as(member).get(LIST))
  assert.ok(queries.length <= 3)
})

test('a token that can read sessions sees them, none of them current', async () => {
  const member = await makeMember(t)
  const [session] = (await t.as(await t.make.pat(member)).get(LIST)).json()
  assert.deepEqual([session.id, session.current], [member.sessionId, false])
})

test('signing out ends a session immediately, by ID or by secret', async () => {
  const member = await makeMember(t)
  const other = await t.make.session(member.id)
  const third = (await signIn(t, member.username)).json()
  for (const token of [member.token, other, third.session]) assert.ok(await works(token))
  assert.equal((await t.as(member).delete(`/_internal/session/${other}`)).statusCode, 204)
  assert.equal((await t.as(member).delete(`/v2/_internal/session/${third.id}`)).statusCode, 204)
  assert.deepEqual([await works(other), await works(third.session), await works(member.token)], [false, false, true])
  assert.equal((await t.as(member).delete(`/_internal/session/${member.sessionId}`)).statusCode, 204)
  assert.equal(await works(member.token), false)
})

test("rejects another user's session, an unknown one and an invalid ID", async () => {
  const [member, stranger] = [await makeMember(t), await makeMember(t)]
  for (const id of [stranger.sessionId, stranger.token, 'zzzzzzzz'])
    assertError(await t.as(member).delete(`/_internal/session/${id}`), 404, 'not_found')
  for (const id of ['not-base-62', 'a'.repeat(12), (await t.make.pat(member)).token])
    assertError(await t.as(member).delete(`/_internal/session/${id}`), 400, 'decoding_error')
  assert.ok(await works(stranger.token))
})

test('a session dies after 14 days and can be refreshed until 60 have passed', async () => {
  const { username } = await makeMember(t)
  const first = (await signIn(t, username)).json()
  t.advance(14 * DAY_MS + 1)
  assertError(await t.as({ token: first.session }).get('/v3/user'), 401, 'unauthorized')
  const second = (await t.as({ token: first.session }).post(REFRESH)).json()
  assert.deepEqual(
    [second.id, second.refresh_expires, second.created, second.current],
    [first.id, first.refresh_expires, first.created, true],
  )
  assert.equal(Date.parse(second.expires) - Date.parse(second.last_login), 14 * DAY_MS)
  assert.deepEqual([await works(second.session), await works(first.session)], [true, false])

  t.advance(40 * DAY_MS)
  const third = (await t.as({ token: `Bearer ${second.session}` }).post(REFRESH)).json()
  assert.equal(third.expires, first.refresh_expires)
  t.advance(6 * DAY_MS)
  assertError(await t.as({ token: third.session }).post(REFRESH), 401, 'unauthorized')
})

test('the old secret is dead at once after a refresh, also where it was in use, and cannot refresh again', async () => {
  const member = await makeMember(t)
  assert.ok(await works(member.token))
  const refreshed = await t.as(member).post(`/v2${REFRESH}`)
  assert.equal(refreshed.statusCode, 200)
  assert.equal(await works(member.token), false)
  assertError(await t.as(member).post(REFRESH), 401, 'unauthorized')
  const [session] = (await t.as({ token: refreshed.json().session }).get(LIST)).json()
  assert.deepEqual([session.id, session.current], [member.sessionId, true])
})

test('of parallel refreshes a single one succeeds, and its secret works', async () => {
  const member = await makeMember(t)
  const answers = await Promise.all([1, 2, 3, 4].map(() => t.as(member).post(REFRESH)))
  assert.deepEqual(statuses(answers), [200, 401, 401, 401])
  const winner = answers.find(({ statusCode }) => statusCode === 200)
  assert.ok(await works(winner?.json().session))
})

test('only a session can be refreshed', async () => {
  const member = await makeMember(t)
  assertError(await t.anyone.post(REFRESH), 401, 'unauthorized')
  for (const token of ['nonsense', (await t.make.pat(member)).token, `${member.token.slice(0, -1)}!`])
    assertError(await t.as({ token }).post(REFRESH), 401, 'unauthorized')
})

test('listing and ending sessions need a token with the scope for it', async () => {
  const member = await makeMember(t)
  const remove = (client: TestApp['anyone']) => client.delete(`/_internal/session/${member.sessionId}`)
  assertError(await t.anyone.get(LIST), 401, 'unauthorized')
  assertError(await remove(t.anyone), 401, 'unauthorized')
  const reader = await t.as(await t.make.pat(member, allBut('SESSION_READ'))).get(LIST)
  assertError(reader, 403, 'unauthorized')
  assert.match(reader.json().description, /SESSION_READ/)
  const remover = await remove(t.as(await t.make.pat(member, allBut('SESSION_DELETE'))))
  assertError(remover, 403, 'unauthorized')
  assert.match(remover.json().description, /SESSION_DELETE/)
  assert.ok(await works(member.token))
})

test('the schedule deletes expired flows and sessions', async () => {
  const { db, pool } = t.deps
  const member = await makeMember(t)
  await t.as(member).post('/_internal/auth/2fa/get_secret')
  const count = async () => [
    (await db.selectFrom('session').select('id').where('account_id', '=', member.id).execute()).length,
    (await db.selectFrom('account_flow').select('kind').where('account_id', '=', member.id).execute()).length,
  ]
  const expire = async () => {
    await pool.query("select graphile_worker.add_job('accounts.expire', '{}')")
    await t.runJobs()
  }
  await expire()
  assert.deepEqual(await count(), [1, 1])
  t.advance(31 * MINUTE_MS)
  await expire()
  assert.deepEqual(await count(), [1, 0])
  t.advance(60 * DAY_MS)
  await expire()
  assert.deepEqual(await count(), [0, 0])
})

test('a User-Agent is shown in a word or two', () => {
  const cases: [string, string | null, string | null][] = [
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
      'Windows',
      'Edge',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'macOS',
      'Safari',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
      'iOS',
      'Safari',
    ],
    ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36', 'Android', 'Chrome'],
    ['launcher/2.1 (contact@example.org)', null, 'launcher'],
    ['', null, null],
    [`${'x'.repeat(300)}/1.0`, null, 'x'.repeat(64)],
  ]
  for (const [text, os, platform] of cases) assert.deepEqual(describeUserAgent(text), { os, platform })
})
