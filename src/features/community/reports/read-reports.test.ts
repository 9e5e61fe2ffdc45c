import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

type Report = { id: string; body: string; closed: boolean }
const ids = (reports: Report[]): string[] => reports.map(({ id }) => id)
const list = async (who: Person, query: Call['query'] = {}): Promise<string[]> => {
  const answer = await t.as(who).get('/v3/report', { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return ids(answer.json())
}
const minute = (n: number): Date => new Date(Date.UTC(2026, 0, 1, 0, n))

test('a report is for its reporter and moderators; for others it does not exist', async () => {
  const [reporter, subject] = [await t.make.account(), await t.make.account()]
  const { id } = await talk.report(reporter, { item: subject })
  assert.equal((await t.as(reporter).get(`/v3/report/${id}`)).statusCode, 200)
  assert.equal((await t.as(moderator).get(`/v3/report/${id}`)).statusCode, 200)
  assertError(await t.as(subject).get(`/v3/report/${id}`), 404, 'not_found')
  assertError(await t.as(moderator).get('/v3/report/unknown0'), 404, 'not_found')
  assertError(await t.as(moderator).get('/v3/report/not-base62'), 400, 'decoding_error', 'id')
})

test('reports by ID come in the order asked for, without others’', async () => {
  const [reporter, other] = [await t.make.account(), await t.make.account()]
  const [a, b, c] = [
    await talk.report(reporter),
    await talk.report(reporter, { closed: true }),
    await talk.report(other),
  ]
  const get = async (who: Person, wanted: string[]) => {
    const answer = await t.as(who).get('/v3/reports', { query: { ids: JSON.stringify(wanted) } })
    return ids(answer.json())
  }
  assert.deepEqual(await get(reporter, [b.id, c.id, 'unknown0', a.id, b.id]), [b.id, a.id])
  assert.deepEqual(await get(moderator, [b.id, c.id, a.id]), [b.id, c.id, a.id])
  assert.deepEqual(await get(reporter, []), [])
  const invalid = (text: string) => t.as(reporter).get('/v3/reports', { query: { ids: text } })
  assertError(await invalid('["not-base62"]'), 400, 'decoding_error', 'ids.0')
  assertError(await invalid('a,b'), 400, 'invalid_input', 'ids')
  assertError(
    await invalid(JSON.stringify(Array.from({ length: 1001 }, (_, n) => `a${n}`))),
    400,
    'invalid_input',
    'ids',
  )
})

test('open reports are paged from the oldest, the newest of a page first; only moderators see all reports', async () => {
  const reporter = await t.make.account()
  const own: string[] = []
  for (let n = 0; n < 5; n += 1) own.push((await talk.report(reporter, { created: minute(n) })).id)
  await talk.report(reporter, { created: minute(5), closed: true })
  const mine = await talk.report(moderator, { created: minute(6) })
  const [r0, r1, r2, r3, r4] = own

  assert.deepEqual(await list(reporter), [r4, r3, r2, r1, r0])
  assert.deepEqual(await list(reporter, { count: 2 }), [r1, r0])
  assert.deepEqual(await list(reporter, { count: 2, offset: 2 }), [r3, r2])
  assert.deepEqual(await list(reporter, { count: 2, offset: 4 }), [r4])
  assert.deepEqual(await list(reporter, { offset: 5 }), [])
  assert.deepEqual(await list(reporter, { count: 0 }), [])
  assert.deepEqual(await list(reporter, { all: true }), [r4, r3, r2, r1, r0], 'all is ignored')
  assert.deepEqual(await list(moderator), [mine.id])
  const all = await list(moderator, { all: true, count: 1000 })
  assert.ok([...own, mine.id].every((id) => all.includes(id)))
  assert.deepEqual(await list(moderator, { all: true, count: 3 }), [r2, r1, r0], 'the oldest of all')
})

test('paging values outside their limits are rejected', async () => {
  const reporter = await t.make.account()
  const refused: [string, Call['query']][] = [
    ['count', { count: 1001 }],
    ['count', { count: -1 }],
    ['count', { count: 'many' }],
    ['offset', { offset: -1 }],
    ['all', { all: 'maybe' }],
  ]
  for (const [field, query] of refused) {
    assertError(
      await t.as(reporter).get('/v3/report', query === undefined ? {} : { query }),
      400,
      'invalid_input',
      field,
    )
  }
})

test('reading needs a token with REPORT_READ', async () => {
  const reporter = await t.make.account()
  const { id } = await talk.report(reporter)
  const pat = await t.make.pat(reporter, scopeBits('ALL_BUT', 'REPORT_READ'))
  const only = await t.make.pat(reporter, scopeBits('ONLY', 'REPORT_READ'))
  for (const path of [`/v3/report/${id}`, '/v3/report', `/v3/reports?ids=${encodeURIComponent(`["${id}"]`)}`]) {
    assertError(await t.anyone.get(path), 401, 'unauthorized')
    assertError(await t.as(pat).get(path), 403, 'unauthorized')
    const answer = await t.as(only).get(path)
    assert.equal(answer.statusCode, 200)
    assert.match(String(answer.headers['cache-control']), /^private/)
  }
})

test('lists cost one statement whatever their length', async () => {
  const reporter = await t.make.account()
  const all: string[] = []
  for (let n = 0; n < 50; n += 1) all.push((await talk.report(reporter)).id)
  const statements = async (path: string, length: number): Promise<number> => {
    const { result, queries } = await t.queriesOf(() => t.as(reporter).get(path))
    assert.equal(result.json().length, length)
    return queries.length
  }
  const byId = (length: number) => `/v3/reports?ids=${encodeURIComponent(JSON.stringify(all.slice(0, length)))}`
  await statements('/v3/report', 50)
  assert.deepEqual([await statements(byId(2), 2), await statements(byId(50), 50)], [1, 1])
  assert.deepEqual([await statements('/v3/report?count=2', 2), await statements('/v3/report', 50)], [1, 1])
})
