import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

test('the rate limit can be read without a cost, also when it is reached', async () => {
  const read = async () => (await t.inject({ url: '/v3/rate-limit', headers: { 'user-agent': 'tests' } })).json()
  const spend = () => t.inject({ url: '/v3/statistics', headers: { 'user-agent': 'tests' } })
  const { limit, remaining } = await read()
  assert.deepEqual([limit, remaining], [300, 300])
  assert.deepEqual((await read()).remaining, 300)
  await spend()
  const after = await read()
  assert.equal(after.remaining, 299)
  assert.ok(after.reset_seconds >= 1 && Date.parse(after.reset) > t.deps.now())
  let last = await spend()
  while (last.statusCode !== 429) last = await spend()
  assert.deepEqual((await read()).remaining, 0)
})
