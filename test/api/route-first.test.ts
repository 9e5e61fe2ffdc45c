// Routing comes before the body: the body does not influence the route that a path and a method select.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { METHODS } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
let port: number
before(async () => {
  t = await testApp()
  await t.app.listen({ host: '127.0.0.1', port: 0 })
  port = (t.app.server.address() as AddressInfo).port
})
after(() => t.close())

const BODIES: readonly { headers: Record<string, string>; payload?: string }[] = [
  { headers: {} },
  { headers: { 'content-type': 'application/json' }, payload: '{"broken":' },
  { headers: { 'content-type': 'application/json' }, payload: '' },
  { headers: { 'content-type': 'text/strange' }, payload: 'text' },
  { headers: { 'content-type': 'nonsense' }, payload: 'text' },
  { headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: '--x\r\nbroken' },
  { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, payload: 'abc' },
  { headers: { 'content-type': 'application/json' }, payload: `"${'x'.repeat(3_000_000)}"` },
]

const CASES = [
  { url: '/nothing/here', status: 404, error: 'not_found', methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] },
  { url: '/v1', status: 410, error: 'api_deprecated', methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] },
  { url: '/api/v1/mod/x', status: 410, error: 'api_deprecated', methods: ['POST', 'PATCH'] },
  { url: '/v3/games', status: 404, error: 'not_found', methods: ['POST', 'PATCH', 'PUT', 'DELETE'] },
  { url: '/v3/version', status: 404, error: 'not_found', methods: ['PUT', 'DELETE'] },
] as const

test('unknown paths, retired versions and other methods are answered whatever is sent', async () => {
  for (const { url, status, error, methods } of CASES) {
    for (const method of methods) {
      for (const { headers, payload } of BODIES) {
        const answer = await t.inject({
          ...{ method, url, headers: { 'user-agent': 'x', 'x-ratelimit-key': BYPASS_KEY, ...headers } },
          ...(payload === undefined ? {} : { payload }),
        })
        const what = `${method} ${url} ${JSON.stringify(headers)}`
        assert.deepEqual([answer.statusCode, answer.json().error], [status, error], what)
      }
    }
  }
})

/** Sends a raw request and returns the whole response. */
async function exchange(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    answer += piece
  })
  socket.write(text)
  await once(socket, 'close')
  return answer
}

const HEADERS = `Host: x\r\nUser-Agent: x\r\nX-Ratelimit-Key: ${BYPASS_KEY}\r\nConnection: close\r\n`

test('every method that HTTP knows gets an answer in the form of all errors', async () => {
  for (const method of METHODS.filter((each) => !['GET', 'HEAD', 'CONNECT'].includes(each))) {
    for (const [path, status] of [
      ['/nothing', 404],
      ['/v1/mod', 410],
      ['/v3/games', 404],
    ] as const) {
      const answer = await exchange(`${method} ${path} HTTP/1.1\r\n${HEADERS}Content-Length: 2\r\n\r\n{}`)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${method} ${path}`)
      assert.match(answer, /\{"error":"(not_found|api_deprecated)","description":"/, `${method} ${path}`)
    }
  }
  const connected = await exchange(`CONNECT example.org:443 HTTP/1.1\r\n${HEADERS}\r\n`)
  assert.match(connected, /^HTTP\/1\.1 404 Not Found\r\n[\s\S]*\{"error":"not_found"/)
})

test('a redirect stays on the site, also for a request with a whole URL', async () => {
  const answer = await exchange(`GET http://other.test/account/authorizations/revoke?x HTTP/1.1\r\n${HEADERS}\r\n`)
  assert.match(answer, /^HTTP\/1\.1 303 [\s\S]*\r\nlocation: \/account\/authorizations\r\n/)
})

test('a route that is there still rejects a compressed body, after it has asked who calls', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  const open = await t.anyone.post('/v3/version_files', 'x', { headers })
  assert.deepEqual([open.statusCode, open.json().details.field], [400, 'content-encoding'])
  assert.equal((await t.anyone.post('/v3/version', 'x', { headers })).statusCode, 401)
})

test('the files of the viewer have no way up', async () => {
  for (const path of [
    '..%2f',
    '..%2f..%2fpackage.json',
    '..%5cpackage.json',
    '%2e%2e%2fx',
    'a%2f..%2f..%2fx',
    '..%255c',
  ]) {
    const answer = await t.anyone.get(`/docs/swagger-ui/static/${path}`)
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'], path)
  }
  assert.equal((await t.anyone.get('/docs/swagger-ui/static/swagger-ui.css')).statusCode, 200)
})
