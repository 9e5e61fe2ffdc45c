// Costs at the rate limit: expensive requests count as several, as their route declares.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { processorMs, slowness } from '#test/support/processes/processor-time.ts'

const t = await testApp()
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

const LONG = 60_000
const HEADERS = { 'user-agent': 'depot-tests/1.0', accept: 'application/json' }

const REPEATED = [
  { status: 414, url: `${'/'.repeat(LONG)}x` },
  { status: 414, url: `/mod/${'a'.repeat(LONG)}/` },
  ...['new_filters', 'filters'].map((name) => ({
    status: 400,
    url: `/v2/search?${name}=${encodeURIComponent('downloads > ')}${'0'.repeat(LONG)}x`,
  })),
  { status: 200, url: '/v3/tag/loader', headers: { 'accept-encoding': `gzip${'\t'.repeat(LONG)}x` } },
  { status: 200, url: '/v3/tag/loader', headers: { 'if-none-match': `W/${'"'.repeat(LONG)}` } },
  { status: 301, url: `/mods?g=${'%09'.repeat(21_000)}%0A`, headers: { accept: 'text/html' } },
]

test('repeated characters of a request do not hold the event loop', async () => {
  for (const { status, url, headers } of REPEATED) {
    const request = { method: 'GET', url, headers: { ...HEADERS, ...headers }, remoteAddress: '192.0.2.64' } as const
    const send = () => processorMs(() => t.inject(request))
    const { result } = await send()
    const about = `${url.slice(0, 40)} ${JSON.stringify(headers)?.slice(0, 60)}`
    assert.equal(result.statusCode, status, `${about}: ${result.body.slice(0, 200)}`)
    const times = [(await send()).ms, (await send()).ms, (await send()).ms]
    assert.ok(Math.min(...times) < 20 * slowness(), `${about} takes ${times.map(Math.round)} ms`)
  }
})

test('a path has at most 2,048 bytes', async () => {
  const send = (url: string, accept: string) =>
    t.inject({ method: 'GET', url, headers: { ...HEADERS, accept }, remoteAddress: '192.0.2.65' })
  const longest = `/v3/nothing/${'a'.repeat(2036)}`
  assert.equal((await send(longest, 'application/json')).statusCode, 404)
  const answer = await send(`${longest}a?q=1`, 'application/json')
  assert.equal(answer.statusCode, 414)
  const { error, description, details } = answer.json()
  assert.deepEqual([error, description], ['invalid_input', 'The path is longer than 2048 bytes'])
  assert.deepEqual(details, { field: 'path' })
  assert.equal((await send(`/mod/${'a'.repeat(2048)}`, 'text/html')).statusCode, 414)
})

test('ignores headers for content negotiation that are too long', async () => {
  const send = (headers: Record<string, string>) =>
    t.inject({ method: 'GET', url: '/v3/tag/loader', headers: { ...HEADERS, ...headers } })
  const { etag } = (await send({})).headers
  const filled = (text: string, bytes: number) => text + ' '.repeat(bytes - text.length)
  assert.equal((await send({ 'if-none-match': filled(String(etag), 4096) })).statusCode, 304)
  assert.equal((await send({ 'if-none-match': filled(String(etag), 4097) })).statusCode, 200)
  const codingOf = async (bytes: number) =>
    (await send({ 'accept-encoding': filled('gzip', bytes) })).headers['content-encoding']
  assert.deepEqual([await codingOf(1024), await codingOf(1025)], ['gzip', undefined])
})

test('a number in a filter has at most 32 characters', async () => {
  const statusOf = async (number: string) => {
    const query = { new_filters: `downloads >= ${number}` }
    return (await t.inject({ method: 'GET', url: '/v2/search', query, headers: HEADERS })).statusCode
  }
  assert.deepEqual([await statusOf(`${'0'.repeat(31)}1`), await statusOf(`${'0'.repeat(32)}1`)], [200, 400])
})
