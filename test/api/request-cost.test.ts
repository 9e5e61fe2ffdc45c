// Costs at the rate limit: expensive requests count as several, as their route declares.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
before(async () => {
  // A granted rate reaches the other processes a moment after the answer.
  t = await testApp({ processes: 1 })
})
after(() => t.close())

const signIn = (remoteAddress: string) =>
  t.inject({
    method: 'POST',
    url: '/_internal/auth/login',
    headers: { 'user-agent': 'depot-tests/1.0' },
    payload: { username: 'nobody-of-this-name', password: 'violet harbour lamp' },
    remoteAddress,
  })

test('an expensive request counts as several, a plain one as one', async () => {
  t.freeze()
  const headers = { 'user-agent': 'depot-tests/1.0' }
  const plain = await t.inject({ method: 'GET', url: '/v3/report_type', headers, remoteAddress: '192.0.2.61' })
  assert.equal(plain.headers['x-ratelimit-remaining'], '299')
  const answer = await signIn('192.0.2.61')
  assert.equal(answer.statusCode, 401)
  assert.equal(answer.headers['x-ratelimit-remaining'], '294')
  t.thaw()
})

test('when less is left than it counts for, it is rejected, and plain requests still pass', async () => {
  t.freeze()
  const headers = { 'user-agent': 'depot-tests/1.0' }
  const plain = () => t.inject({ method: 'GET', url: '/v3/report_type', headers, remoteAddress: '192.0.2.62' })
  for (let i = 0; i < 297; i += 1) assert.equal((await plain()).statusCode, 200)
  const refused = await signIn('192.0.2.62')
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.json().error, 'ratelimit_error')
  assert.equal((await plain()).statusCode, 200)
  t.thaw()
})

test('accepts a request that costs more than the granted rate if no other request was made', async () => {
  const grant = { address_range: '192.0.2.63/32', requests_per_minute: 2 }
  const made = await t.anyone.post('/_internal/admin/rate-limits', grant, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(made.statusCode, 201)
  assert.equal((await signIn('192.0.2.63')).statusCode, 401)
  assert.equal((await signIn('192.0.2.63')).statusCode, 429)
})

test('describes the cost of each expensive operation', async () => {
  const routes = t.app.routeTable().filter(({ hidden, config }) => !hidden && (config.cost ?? 1) > 1)
  assert.ok(routes.length >= 10)
  const documents = [await t.anyone.get('/docs/openapi.json'), await t.anyone.get('/docs/v2/openapi.json')]
  const texts = documents.flatMap(({ body }) =>
    Object.values(
      JSON.parse(body).paths as Record<string, Record<string, { operationId: string; description?: string }>>,
    ),
  )
  const operations = texts.flatMap((item) => Object.values(item))
  for (const { operationId, config } of routes) {
    const described = operations.find((operation) => operation.operationId === operationId)
    assert.match(described?.description ?? '', new RegExp(`Counts as ${config.cost} requests`), operationId)
  }
})
