// Rules for every response: IP address, rate limit, User-Agent, CORS, ETags, errors and bodies.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const AGENT = { 'user-agent': 'depot-tests/1.0' }
const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

const t = await testApp()
after(() => t.close())

/** A request with its own IP address and without the bypass key. */
let lastAddress = 0
const fromNewAddress = () => `10.0.${Math.floor(lastAddress / 250)}.${(lastAddress++ % 250) + 1}`
const plain = (url: string, headers: Record<string, string> = {}, remoteAddress = fromNewAddress()) =>
  t.inject({ method: 'GET', url, headers: { ...AGENT, ...headers }, remoteAddress })

test('the root document has name, version, documentation and about as strings', async () => {
  const answer = await plain('/')
  assert.equal(answer.statusCode, 200)
  const { name, ...rest } = answer.json()
  assert.equal(name, 'depot')
  for (const key of ['version', 'documentation', 'about']) assert.equal(typeof rest[key], 'string')
})

test('accepts a burst of 300 requests and tells the 301st how long to wait', async () => {
  t.freeze()
  const address = fromNewAddress()
  for (let i = 0; i < 300; i += 1) {
    const answer = await plain('/v3/report_type', {}, address)
    assert.equal(answer.statusCode, 200, `request ${i + 1}`)
    assert.equal(answer.headers['x-ratelimit-limit'], '300')
  }
  const refused = await plain('/v3/report_type', {}, address)
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.json().error, 'ratelimit_error')
  assert.match(refused.json().description, /wait \d+ milliseconds.* 0\/300 remaining/)
  assert.equal(refused.headers['x-ratelimit-remaining'], '0')
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.headers['x-ratelimit-reset'], '1')
  assert.equal(refused.headers['access-control-allow-origin'], '*')
  assert.equal((await plain('/v3/report_type')).statusCode, 200, 'another address has its own budget')
  t.thaw()
})

test('IPv6 counts by /64, and IPv4 written as IPv6 as itself', async () => {
  t.freeze()
  const first = await plain('/v3/games', {}, '2001:db8:1:2:3::4')
  const second = await plain('/v3/games', {}, '2001:db8:1:2:ffff::1')
  const other = await plain('/v3/games', {}, '2001:db8:1:3::1')
  const rest = (answer: typeof first) => Number(answer.headers['x-ratelimit-remaining'])
  assert.equal(rest(second), rest(first) - 1)
  assert.equal(rest(other), rest(first))
  const four = await plain('/v3/games', {}, '192.0.2.77')
  const mapped = await plain('/v3/games', {}, '::ffff:192.0.2.77')
  assert.equal(rest(mapped), rest(four) - 1)
  t.thaw()
})

test('every answer carries the three rate headers, 404s and errors included, and an unused rate with the bypass key', async () => {
  for (const url of ['/v3/games', '/nothing', '/v3/project/unknown-project', '/v3/projects?ids=x']) {
    const answer = await plain(url)
    for (const header of RATE_HEADERS) assert.ok(answer.headers[header] !== undefined, `${url} ${header}`)
  }
  const bypassed = await t.anyone.get('/v3/games')
  assert.deepEqual(
    RATE_HEADERS.map((header) => bypassed.headers[header]),
    ['300', '300', '0'],
  )
  const wrongKey = await plain('/v3/games', { 'x-ratelimit-key': 'wrong' })
  assert.equal(wrongKey.headers['x-ratelimit-limit'], '300')
  const emptyKey = await plain('/v3/games', { 'x-ratelimit-key': '' })
  assert.equal(emptyKey.headers['x-ratelimit-limit'], '300')
})

test('a request without a User-Agent is rejected, but not by the probes', async () => {
  for (const headers of [{ 'user-agent': '' }, { 'user-agent': '   ' }]) {
    const answer = await t.inject({ method: 'GET', url: '/v3/games', headers, remoteAddress: fromNewAddress() })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'invalid_input')
    assert.equal(answer.json().details.field, 'user-agent')
  }
  for (const url of ['/health', '/ready', '/metrics']) {
    const probe = await t.inject({ method: 'GET', url, headers: { 'user-agent': '' } })
    assert.equal(probe.statusCode, 200, url)
    for (const header of RATE_HEADERS) assert.ok(probe.headers[header] !== undefined, `${url} ${header}`)
  }
})

test('a preflight is answered 204 everywhere and echoes the headers asked for', async () => {
  for (const url of ['/v3/project/abc', '/nothing/at/all', '/v3/version']) {
    const answer = await t.inject({
      method: 'OPTIONS',
      url,
      remoteAddress: fromNewAddress(),
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization, x-own',
      },
    })
    assert.equal(answer.statusCode, 204, url)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['access-control-allow-headers'], 'authorization, x-own')
    assert.match(String(answer.headers['access-control-allow-methods']), /PATCH/)
    assert.equal(answer.headers['access-control-max-age'], '3600')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  }
  const other = await t.inject({ method: 'OPTIONS', url: '/v3/games', headers: AGENT, remoteAddress: fromNewAddress() })
  assert.equal(other.statusCode, 404)
})

test('answers expose the headers that a browser program needs', async () => {
  const exposed = String((await plain('/v3/games')).headers['access-control-expose-headers'])
  for (const name of [
    'ETag',
    'Retry-After',
    'X-Ratelimit-Limit',
    'X-Ratelimit-Remaining',
    'X-Ratelimit-Reset',
    'X-Request-Id',
  ])
    assert.ok(exposed.includes(name), name)
})

describe('conditional requests', () => {
  test('a read has a strong tag, and If-None-Match gives 304 without a body', async () => {
    const first = await plain('/v3/games')
    const etag = String(first.headers['etag'])
    assert.match(etag, /^"[^"]+"$/)
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*', `"other" , W/${etag}`]) {
      const again = await plain('/v3/games', { 'if-none-match': value })
      assert.equal(again.statusCode, 304, value)
      assert.equal(again.body, '')
      assert.equal(again.headers['etag'], etag)
      assert.equal(again.headers['content-type'], undefined)
    }
    assert.equal((await plain('/v3/games', { 'if-none-match': '"other"' })).statusCode, 200)
  })

  test('errors have no ETag and are not cached', async () => {
    const answer = await plain('/v3/project/no-such-project')
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.headers['etag'], undefined)
    assert.equal(answer.headers['cache-control'], 'no-store')
  })

  test('tags live an hour, public reads revalidate, a known caller gets a private answer', async () => {
    assert.equal((await plain('/v3/games')).headers['cache-control'], 'public, max-age=3600')
    const project = await t.make.project()
    const anonymous = await plain(`/v3/project/${project.id}`)
    assert.equal(anonymous.headers['cache-control'], 'public, max-age=0, must-revalidate')
    const known = await t.as(project.owner).get(`/v3/project/${project.id}`)
    assert.match(String(known.headers['cache-control']), /^private/)
    const tags = await t.as(project.owner).get('/v3/games')
    assert.equal(tags.headers['cache-control'], 'public, max-age=3600', 'tags do not depend on the viewer')
  })

  test('gives a compressed response its own ETag, which also leads to 304', async () => {
    const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }
    const identity = await plain('/v3/tag/category')
    for (const [encoding, decode] of Object.entries(decoders)) {
      const answer = await plain('/v3/tag/category', { 'accept-encoding': encoding })
      assert.equal(answer.headers['content-encoding'], encoding)
      assert.match(String(answer.headers['vary']), /accept-encoding/i)
      assert.equal(decode(answer.rawPayload).toString(), identity.body)
      const etag = String(answer.headers['etag'])
      assert.notEqual(etag, identity.headers['etag'])
      const again = await plain('/v3/tag/category', { 'accept-encoding': encoding, 'if-none-match': etag })
      assert.equal(again.statusCode, 304)
    }
    assert.equal(
      (await plain('/', { 'accept-encoding': 'gzip' })).headers['content-encoding'],
      undefined,
      'too small to be worth it',
    )
  })
})

test('a compressed request body is rejected by name', async () => {
  const answer = await t.inject({
    method: 'POST',
    url: '/v3/version_files',
    headers: { ...AGENT, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    payload: gzipSync('{}'),
    remoteAddress: fromNewAddress(),
  })
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.json().error, 'invalid_input')
  assert.match(answer.json().description, /[Cc]ompressed/)
  assert.equal(answer.json().details.field, 'content-encoding')
})

test('HEAD works wherever GET works, with the same headers and no body', async () => {
  const get = await plain('/v3/games')
  const head = await t.inject({ method: 'HEAD', url: '/v3/games', headers: AGENT, remoteAddress: fromNewAddress() })
  assert.equal(head.statusCode, 200)
  assert.equal(head.body, '')
  assert.equal(head.headers['etag'], get.headers['etag'])
  assert.equal(head.headers['content-length'], get.headers['content-length'])
})

test('unknown paths, methods and trailing slashes are 404 as JSON', async () => {
  for (const [method, url] of [
    ['GET', '/v3/nothing'],
    ['GET', '/v3/games/'],
    ['PUT', '/v3/games'],
    ['POST', '/v3/games'],
    ['DELETE', '/'],
    ['PATCH', '/health'],
  ] as const) {
    const answer = await t.inject({ method, url, headers: AGENT, remoteAddress: fromNewAddress() })
    assert.equal(answer.statusCode, 404, `${method} ${url}`)
    assert.equal(answer.json().error, 'not_found')
    assert.equal(typeof answer.json().description, 'string')
  }
})

test('retired API versions are 410 for every method', async () => {
  for (const url of ['/v1', '/v1/mod/x', '/api/v1', '/api/v1/mod?x=1']) {
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT'] as const) {
      const answer = await t.inject({ method, url, headers: AGENT, remoteAddress: fromNewAddress() })
      assert.equal(answer.statusCode, 410, `${method} ${url}`)
      assert.equal(answer.json().error, 'api_deprecated')
    }
  }
})

test('each answer names its request', async () => {
  const [a, b] = await Promise.all([plain('/v3/games'), plain('/nothing')])
  assert.match(String(a.headers['x-request-id']), /^[0-9a-f-]{36}$/)
  assert.notEqual(a.headers['x-request-id'], b.headers['x-request-id'])
})

test('an address of which no route can be made is counted, marked and rejected like any other request', async () => {
  t.freeze()
  const long = 'a'.repeat(3000)
  for (const url of ['/v3/project/%zz', '/v3/project/%E0%A4%A?x=1', `/v3/project/${long}`]) {
    const address = fromNewAddress()
    const answer = await plain(url, {}, address)
    assert.equal(answer.statusCode, url.includes(long) ? 414 : 400, url)
    assert.equal(answer.json().error, 'invalid_input')
    assert.equal(answer.json().details.field, 'path')
    assert.equal(answer.headers['x-ratelimit-remaining'], '299')
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/)
    assert.match((await plain(url, { 'user-agent': '' }, address)).json().description, /User-Agent/)
    assert.equal((await plain('/', {}, address)).headers['x-ratelimit-remaining'], '297')
  }
  t.thaw()
})

describe('bodies', () => {
  const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    t.inject({
      method: 'POST',
      url: '/_internal/auth/login',
      headers: { ...AGENT, 'content-type': 'application/json', ...headers },
      payload,
      remoteAddress: fromNewAddress(),
    })

  test('invalid JSON is json_error', async () => {
    for (const payload of ['{', 'nope', '{"a":}', '{"a":1}}', '', ' ', Buffer.from([0x7b, 0xff, 0x7d])]) {
      const answer = await post(payload)
      assert.equal(answer.statusCode, 400)
      assert.equal(answer.json().error, 'json_error', JSON.stringify(payload))
    }
  })

  test('another content type is invalid_input', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const answer = await post('{"username":"x","password":"y"}', { 'content-type': type })
      assert.equal(answer.statusCode, 400, type)
      assert.equal(answer.json().error, 'invalid_input')
    }
  })

  test('a body of the wrong shape is validation_error naming the field, and nothing is converted', async () => {
    for (const [payload, field] of [
      ['[]', 'body'],
      ['null', 'body'],
      ['{"password":"x"}', 'username'],
      ['{"username":5,"password":"x"}', 'username'],
      ['{"username":"x","password":true}', 'password'],
    ] as const) {
      const answer = await post(payload)
      assert.equal(answer.statusCode, 400, payload)
      assert.equal(answer.json().error, 'validation_error', payload)
      assert.equal(answer.json().details.field, field, payload)
    }
  })

  test('text that the database cannot hold is rejected with its field', async () => {
    for (const value of ['a\\u0000b', '\\ud800']) {
      const answer = await post(`{"username":"${value}","password":"x"}`)
      assert.equal(answer.statusCode, 400)
      assert.equal(answer.json().error, 'validation_error')
      assert.equal(answer.json().details.field, 'username')
    }
  })

  test('prototype keys are ignored', async () => {
    const answer = await post(
      '{"username":"nobody-here","password":"x","__proto__":{"a":1},"constructor":{"prototype":{"b":1}}}',
    )
    assert.equal(answer.statusCode, 401)
    assert.equal(({} as Record<string, unknown>)['a'], undefined)
  })

  test('a JSON body over 2 MiB is rejected, naming the limit; on routes for everyone over 256 KiB', async () => {
    const person = await t.make.account()
    for (const [answer, limit] of [
      [await post(`{"username":"${'x'.repeat(256 * 1024)}"}`), '256 KiB'],
      [await t.as(person).post('/v3/collection', { name: 'x'.repeat(2 * 1024 * 1024) }), '2 MiB'],
    ] as const) {
      assert.equal(answer.statusCode, 400)
      assert.equal(answer.json().error, 'invalid_input')
      assert.match(answer.json().description, new RegExp(`limit of ${limit}`))
    }
  })

  test('an invalid body costs as much as a valid body', async () => {
    const cases: [body: string, field: string][] = [
      [`{"algorithm":"sha1","hashes":[${'1,'.repeat(2_000)}1]}`, 'hashes'],
      [`{"algorithm":"sha1","hashes":[${'1,'.repeat(20_000)}1]}`, 'body'],
      [`{"algorithm":"sha1","hashes":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'body'],
      [`{"algorithm":"sha1","hashes":[${'{"__proto__":1},'.repeat(150)}1]}`, 'body'],
    ]
    for (const [payload, field] of cases) {
      const before = process.cpuUsage()
      const answer = await t.anyone.post('/v3/version_files', payload, {
        headers: { 'content-type': 'application/json' },
      })
      const { user } = process.cpuUsage(before)
      assertError(answer, 400, 'validation_error', field)
      assert.ok(user < 200_000, `${user} µs for ${payload.slice(0, 60)}`)
    }
  })
})

describe('query values', () => {
  test('ids must be a JSON array of at most 1000 strings', async () => {
    for (const [ids, field] of [
      ['x', 'ids'],
      ['{}', 'ids'],
      ['["a","b",1]', 'ids.2'],
      ['"a"', 'ids'],
      ['null', 'ids'],
      [JSON.stringify(Array.from({ length: 1001 }, (_, i) => `a${i}`)), 'ids'],
    ] as const) {
      const answer = await t.anyone.get('/v3/projects', { query: { ids } })
      assert.equal(answer.statusCode, 400, ids.slice(0, 20))
      assert.equal(answer.json().error, 'invalid_input')
      assert.equal(answer.json().details.field, field)
    }
    for (const path of ['versions', 'collections', 'teams', 'organizations']) {
      const answer = await t.anyone.get(`/v3/${path}`, { query: { ids: '["AAAAAAAA","AAAAAAAA","not an ID"]' } })
      if (path === 'organizations') assert.equal(answer.statusCode, 200, 'an organization has a name')
      else assertError(answer, 400, 'decoding_error', 'ids.2')
    }
    const missing = await t.anyone.get('/v3/projects')
    assert.equal(missing.statusCode, 400)
    assert.equal(missing.json().details.field, 'ids')
    const thousand = JSON.stringify(Array.from({ length: 1000 }, (_, i) => `id${i}`))
    assert.deepEqual((await t.anyone.get('/v3/projects', { query: { ids: thousand } })).json(), [])
  })

  test('malformed percent-encoding and NUL are invalid_input', async () => {
    for (const url of [
      '/v3/projects?ids=%',
      '/v3/projects?ids=%zz',
      '/v3/project/%00',
      '/v3/projects?ids=%00',
      '/v3/project/%E0%A4%A',
    ]) {
      const answer = await plain(url)
      assert.equal(answer.statusCode, 400, url)
      assert.equal(answer.json().error, 'invalid_input', url)
    }
  })

  test('a parameter given twice is rejected', async () => {
    const answer = await plain('/v3/projects?ids=[]&ids=[]')
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'invalid_input')
  })
})

describe('over a real socket', () => {
  let port = 0
  before(async () => {
    await t.app.listen({ port: 0, host: '127.0.0.1' })
    const address = t.app.server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })

  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })

  test('answers bytes that are not HTTP with a JSON error', async () => {
    const answer = await raw('NOT HTTP AT ALL\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /X-Request-Id: [0-9a-f-]{36}\r\n/)
    assert.match(answer, /"error":"invalid_input"/)
  })

  test('a request without Host gets a JSON error, and an unknown expectation is ignored', async () => {
    const end = 'User-Agent: t\r\nConnection: close\r\n'
    const nameless = await raw(`GET / HTTP/1.1\r\n${end}\r\n`)
    assert.match(nameless, /^HTTP\/1\.1 400 .*x-ratelimit-limit: 300.*"field":"host"/s)
    assert.match(await raw(`GET / HTTP/1.1\r\nHost: x\r\nExpect: nothing\r\n${end}\r\n`), /^HTTP\/1\.1 200 /)
  })

  test('a connection on which nothing moves is closed in the end', () => {
    assert.equal(t.app.server.timeout, 300_000)
  })

  test('1000 percent-encoded IDs fit into the address', async () => {
    const ids = encodeURIComponent(
      JSON.stringify(Array.from({ length: 1000 }, (_, i) => `a${String(i).padStart(7, '0')}`)),
    )
    const answer = await fetch(`http://127.0.0.1:${port}/v3/projects?ids=${ids}`, { headers: AGENT })
    assert.equal(answer.status, 200)
    assert.deepEqual(await answer.json(), [])
  })

  test('headers beyond 64 KiB are rejected as JSON', async () => {
    const answer = await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(70_000)}\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /exceed 65536 bytes/)
  })

  test('a body that is too large is answered before it has been read', async () => {
    const head = `POST /_internal/auth/login HTTP/1.1\r\nHost: x\r\nUser-Agent: t\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\nConnection: close\r\n\r\n`
    const answer = await raw(head + 'x'.repeat(1000))
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /"error":"invalid_input"/)
  })
})

describe('client address', () => {
  test('comes from the header the operator names; without it the answer is 401', async () => {
    const proxied = await testApp({ env: { CLIENT_ADDRESS_HEADER: 'X-Client' } })
    try {
      const ask = (headers: Record<string, string>) =>
        proxied.inject({ method: 'GET', url: '/v3/games', headers: { ...AGENT, ...headers } })
      assert.equal((await ask({ 'x-client': '203.0.113.9' })).statusCode, 200)
      for (const headers of [{}, { 'x-client': 'unknown' }, { 'x-client': '' }, { 'x-client': '1.2.3.4, 5.6.7.8' }]) {
        const answer = await ask(headers)
        assert.equal(answer.statusCode, 401)
        assert.equal(answer.json().error, 'unauthorized')
      }
      assert.equal((await proxied.inject({ method: 'GET', url: '/health' })).statusCode, 200, 'probes need no address')
    } finally {
      await proxied.close()
    }
  })

  test('a User-Agent that the operator blocks is 403', async () => {
    const strict = await testApp({ env: { BLOCKED_USER_AGENTS: '^curl/' } })
    try {
      const blocked = await strict.inject({ method: 'GET', url: '/v3/games', headers: { 'user-agent': 'curl/8' } })
      assert.equal(blocked.statusCode, 403)
      assert.equal(blocked.json().error, 'unauthorized')
      assert.equal((await strict.inject({ method: 'GET', url: '/v3/games', headers: AGENT })).statusCode, 200)
    } finally {
      await strict.close()
    }
  })
})
