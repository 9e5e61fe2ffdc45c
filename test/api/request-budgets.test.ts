// A browser that loads pages and assets does not use up the request limit of API clients at the same IP address.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
let lastAddress = 0
before(async () => {
  t = await testApp()
  t.freeze()
})
after(() => t?.close())

const newAddress = () => `198.51.100.${++lastAddress}`
const load = (url: string, remoteAddress: string, accept = '*/*') =>
  t.inject({ method: 'GET', url, headers: { 'user-agent': 'Mozilla/5.0', accept }, remoteAddress })
const rest = ({ headers }: { headers: Record<string, unknown> }) => Number(headers['x-ratelimit-remaining'])

/** Returns the URLs in the head and the images of a page. */
async function assetsOf(page: string): Promise<string[]> {
  const { body } = await load(page, newAddress(), 'text/html')
  return [...new Set([...body.matchAll(/(?:href|src)="(\/assets\/[^"#]+)/g)].map(([, path = '']) => path))]
}

test('400 assets and images leave the limits of the API and of pages unchanged', async () => {
  const address = newAddress()
  const assets = await assetsOf('/')
  assert.ok(assets.length >= 4, assets.join())
  const picture = `/data/ABCDEFGH/images/${'0'.repeat(40)}_350.webp`
  for (let i = 0; i < 400; i += 1) {
    const answer = await load([...assets, picture][i % (assets.length + 1)] ?? picture, address)
    assert.ok([200, 404].includes(answer.statusCode), answer.body)
    assert.deepEqual([answer.headers['x-ratelimit-limit'], rest(answer)], ['300', 300], 'the values of the API')
  }
  assert.equal(rest(await load('/v3/report_type', address)), 299)
  assert.equal(rest(await load('/', address, 'text/html')), 299)
  assert.equal(rest(await load(assets[0] ?? '', address)), 299)
})

test('a preflight is never refused, counts nothing and shows the values of the API', async () => {
  const address = newAddress()
  const preflight = () =>
    t.inject({
      method: 'OPTIONS',
      url: '/v3/report_type',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
      remoteAddress: address,
    })
  for (let i = 0; i < 301; i += 1) {
    const answer = await preflight()
    assert.deepEqual([answer.statusCode, answer.headers['x-ratelimit-limit'], rest(answer)], [204, '300', 300])
  }
  for (let i = 0; i < 300; i += 1) assert.equal((await load('/v3/report_type', address)).statusCode, 200)
  assert.equal((await load('/v3/report_type', address)).statusCode, 429)
  const answer = await preflight()
  assert.deepEqual([answer.statusCode, rest(answer)], [204, 0])
})

test('pages have a separate limit of 300, and the API still serves a visitor who has used it up', async () => {
  const address = newAddress()
  for (let i = 0; i < 300; i += 1) {
    const answer = await load('/account/sign-in', address, 'text/html')
    assert.equal(answer.statusCode, 200)
  }
  for (const path of ['/', '/mods', '/account/sign-in', '/no/such/page']) {
    const refused = await load(path, address, 'text/html')
    assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '1'], path)
    assert.match(String(refused.headers['content-type']), /^text\/html/, path)
  }
  assert.equal(rest(await load('/v3/report_type', address)), 299)
  assert.equal(rest(await load('/', address)), 298, 'the root as JSON is the API')
})

test('files of versions count as the API', async () => {
  const address = newAddress()
  const answer = await load('/data/ABCDEFGH/versions/ABCDEFGH/a.jar', address)
  assert.deepEqual([answer.statusCode, answer.headers['x-ratelimit-limit'], rest(answer)], [404, '300', 299])
})

test('a granted rate raises every budget in proportion, and each is bounded', async () => {
  const address = newAddress()
  const granted = await t.anyone.post(
    '/_internal/admin/rate-limits',
    { address_range: address, requests_per_minute: 2 },
    { headers: { 'x-admin-key': ADMIN_KEY } },
  )
  assert.equal(granted.statusCode, 201, granted.body)
  const [asset = ''] = await assetsOf('/')
  const allowed = async (url: string, accept?: string) => {
    for (let count = 0; ; count += 1) if ((await load(url, address, accept)).statusCode === 429) return count
  }
  assert.deepEqual([await allowed(asset), await allowed('/mods', 'text/html'), await allowed('/v3/games')], [20, 2, 2])
})
