// Calls to real servers on this machine: servers that never respond, respond without end, redirect or lie, and URLs that
// lead into the operator's network.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { Secret } from '#lib/access/secret.ts'
import { ApiError } from '#lib/errors.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { callAddress, checkAddress, openAddress } from './call-address.ts'
import { OutgoingError, type OutgoingErrorCode } from './outgoing-error.ts'
import { readJsonWithin } from './read-json.ts'
import { OPERATOR_RULES, type OutgoingRules, type Resolve } from './rules.ts'

const closers: (() => void)[] = []
after(() => {
  for (const close of closers) close()
})

const rulesOf = (env: Record<string, string> = {}): OutgoingRules => loadConfig(env).outgoing
const STRICT = rulesOf()
const LOCAL = rulesOf({ OUTGOING_ALLOW: '127.0.0.1' })

/** Resolves every name to these addresses. */
const resolvingTo = (rules: OutgoingRules, ...addresses: string[]): OutgoingRules => ({
  ...rules,
  test: { resolve: async () => addresses },
})

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  for (const event of ['connection', 'secureConnection']) server.on(event, (socket: Socket) => sockets.add(socket))
  closers.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}`
}

async function assertFails(call: Promise<unknown>, code: OutgoingErrorCode): Promise<OutgoingError> {
  const error = await call.then(
    () => assert.fail(`The call succeeded instead of failing with ${code}`),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof OutgoingError, String(error))
  assert.equal(error.code, code)
  assert.doesNotMatch(`${error.message} ${error.detail} ${error.cause}`, /\d+\.\d+\.\d+|::/)
  return error
}

function refusalOf(url: string, rules = STRICT): string {
  try {
    checkAddress(url, rules)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.status === 400, String(error))
    assert.equal(error.details?.['field'], 'url')
    return String(error.details?.['message'])
  }
  return 'permitted'
}

test('URLs that lead to private or reserved addresses in any spelling are refused before a lookup', () => {
  const hosts = [
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '127.0.0.1.',
      '0.0.0.0',
      '10.1.2.3',
      '169.254.169.254',
    ],
    ...[
      '172.31.0.1',
      '192.168.0.1',
      '100.64.0.1',
      '192.0.0.8',
      '192.0.2.1',
      '192.88.99.1',
      '198.19.255.255',
      '198.51.100.7',
    ],
    ...['203.0.113.9', '224.0.0.1', '255.255.255.255', '168.63.129.16', '[::]', '[::1]', '[::127.0.0.1]', '[::7f00:1]'],
    ...[
      '[::ffff:7f00:1]',
      '[::ffff:10.0.0.1]',
      '[::ffff:1.1.1.1]',
      '[0:0:0:0:0:FFFF:0101:0101]',
      '[::ffff:0:1.1.1.1]',
      '[::ffff:0:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::1]',
      '[100::1]',
      '[2001::1]',
      '[2001:db8::1]',
    ],
    ...['[2002:7f00:1::]', '[3fff::1]', '[5f00::1]', '[fc00::1]', '[fd12::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]'],
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'localhost..',
      'ⓛocalhost',
      'a.localhost',
      'printer.local',
      'db.internal',
    ],
    ...['router.home.arpa', 'metadata.google.internal', 'a..example.org', '-a.example.org', 'a!b.example.org'],
  ]
  for (const host of hosts) assert.match(refusalOf(`https://${host}/hook`), /private or reserved|must be a URL/, host)
})

test('public hosts are permitted, also those next to a special range', () => {
  const hosts = [
    'example.org',
    '1.1.1.1',
    '9.255.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '198.20.0.1',
    '223.255.255.255',
  ]
  const v6 = ['[2606:4700::1111]', '[2001:200::1]', '[2003::1]', '[4000::1]']
  for (const host of [...hosts, ...v6, 'localhost.example.org', 'notlocal', 'bücher.example', 'a_b.example.org'])
    assert.equal(refusalOf(`https://${host}/hook`), 'permitted', host)
  assert.equal(checkAddress('https://Example.ORG./a?b', STRICT).href, 'https://example.org/a?b')
})

test('URLs with another scheme, credentials, a bad port or too many characters are refused with the field', () => {
  assert.equal(refusalOf('http://example.org/'), 'must be an https URL')
  assert.equal(refusalOf('ftp://example.org/'), 'must be an https URL')
  assert.equal(refusalOf('file:///etc/passwd'), 'must be an https URL')
  for (const url of ['', 'example.org', 'https://', ' https://example.org', 'https://exam\tple.org', '/relative'])
    assert.equal(refusalOf(url), 'must be a URL', url)
  for (const url of ['https://a@example.org', 'https://a:b@example.org', 'https://:b@example.org'])
    assert.match(refusalOf(url), /user name or a password/, url)
  for (const port of [1, 22, 25, 80, 444, 1023, 2049, 3306, 5432, 6379, 6443, 9200, 11211, 27017])
    assert.match(refusalOf(`https://example.org:${port}/`), /must use port 443/, String(port))
  for (const port of [443, 1024, 8443, 65535]) assert.equal(refusalOf(`https://example.org:${port}/`), 'permitted')
  const longest = `https://example.org/${'a'.repeat(2_028)}`
  assert.equal(refusalOf(longest), 'permitted')
  assert.match(refusalOf(`${longest}a`), /at most 2048 characters/)
})

test('the operator permits hosts and ranges, and forbids with precedence', () => {
  const rules = rulesOf({
    OUTGOING_ALLOW: '10.1.0.0/16, hooks.internal *.lan.example.org,127.0.0.1 fd00::/8',
    OUTGOING_DENY: '10.1.9.0/24 bad.example.org *.worse.example.org',
  })
  for (const url of [
    ...['http://10.1.2.3/', 'https://10.1.2.3/', 'http://hooks.internal:8080/', 'http://a.lan.example.org/'],
    ...['http://[::ffff:127.0.0.1]:4000/', 'https://[fd12::1]/', 'https://worse.example.org/'],
  ])
    assert.equal(refusalOf(url, rules), 'permitted', url)
  for (const url of [
    'https://10.1.9.9/',
    'https://10.2.0.1/',
    'https://bad.example.org/',
    'https://a.worse.example.org/',
  ])
    assert.match(refusalOf(url, rules), /operator has forbidden/, url)
  assert.equal(refusalOf('http://lan.example.org/', rules), 'must be an https URL')
  for (const value of [
    '10.0.0.0/33',
    '::ffff:0:0/96',
    '10.0.0/8',
    'a b/c',
    'ex*mple.org',
    '1.2.3',
    '*',
    'x'.repeat(254),
  ]) {
    assert.throws(() => rulesOf({ OUTGOING_ALLOW: value }), /OUTGOING_ALLOW must be/, value)
    assert.throws(() => rulesOf({ OUTGOING_DENY: value }), /OUTGOING_DENY must be/, value)
  }
})

test('a call sends method, headers and body, and returns status, headers and body', async () => {
  const url = await serve(async (req, res) => {
    const body = await buffer(req)
    res.writeHead(429, {
      'retry-after': '17',
      'x-seen': `${req.method} ${req.url} ${req.headers['x-a']} ${req.headers.host}`,
    })
    res.end(body)
  })
  const call = { url: `${url}/hook?a=1#b`, method: 'POST', headers: { 'x-a': '1', host: 'other' }, body: 'hällo' }
  const answer = await callAddress(LOCAL, call)
  assert.equal(answer.status, 429)
  assert.equal(answer.headers['retry-after'], '17')
  assert.equal(answer.headers['x-seen'], `POST /hook?a=1 1 ${new URL(url).host}`)
  assert.equal(answer.body.toString(), 'hällo')
  assert.equal(answer.truncated, false)
})

test('nothing is called when the address is refused or calls are off', async () => {
  let calls = 0
  const url = await serve((_req, res) => void res.end(String(calls++)))
  await assertFails(callAddress(STRICT, { url }), 'refused_address')
  await assertFails(openAddress(STRICT, { url }), 'refused_address')
  await assertFails(callAddress(rulesOf({ OUTGOING: 'off', OUTGOING_ALLOW: '127.0.0.1' }), { url }), 'off')
  await assertFails(
    callAddress(rulesOf({ OUTGOING_ALLOW: '127.0.0.1', OUTGOING_DENY: '127.0.0.0/8' }), { url }),
    'refused_address',
  )
  assert.equal(calls, 0)
})

test('a name is refused if any of its addresses is private, and an address that changes is checked again', async () => {
  let calls = 0
  const port = new URL(await serve((_req, res) => void res.end(String(calls++)))).port
  const call = { url: `https://receiver.example.org:${port}/` }
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '::127.0.0.1', 'fe80::1%lo', 'nonsense'])
    await assertFails(callAddress(resolvingTo(STRICT, '1.1.1.1', address), call), 'refused_address')
  await assertFails(callAddress(resolvingTo(STRICT), call), 'dns')
  // The first lookup returns a permitted address; by the second one, the name leads elsewhere.
  const answers = [['127.0.0.1'], ['127.0.0.2']]
  const resolve: Resolve = async () => answers.shift() ?? []
  const rebinding = { ...LOCAL, test: { resolve } }
  assert.equal(checkAddress(call.url, rebinding).hostname, 'receiver.example.org')
  await assertFails(callAddress(rebinding, call), 'tls')
  assert.equal(answers.length, 1, 'one call resolves the name once')
  await assertFails(callAddress(rebinding, call), 'refused_address')
  assert.equal(calls, 0)
})

test('the connection goes to the checked address, with the name in Host', async () => {
  const url = await serve((req, res) => void res.end(req.headers.host))
  const port = new URL(url).port
  const rules = rulesOf({ OUTGOING_ALLOW: 'receiver.example.org' })
  const call = { url: `http://receiver.example.org:${port}/` }
  const answer = await callAddress(resolvingTo(rules, '127.0.0.1'), call)
  assert.equal(answer.body.toString(), `receiver.example.org:${port}`)
  // Node.js requests one address in place of all if there is nothing to choose from; another address also works.
  const several = await callAddress(resolvingTo(rules, '127.0.0.1', '::1'), call)
  assert.equal(several.status, 200)
})

test('redirects are responses, and are not followed', async () => {
  let followed = 0
  const inner = await serve((_req, res) => void res.end(String(followed++)))
  const url = await serve((_req, res) => void res.writeHead(302, { location: `${inner}/secret` }).end())
  const answer = await callAddress(LOCAL, { url })
  assert.deepEqual([answer.status, answer.headers.location], [302, `${inner}/secret`])
  assert.equal(followed, 0)
})

test('servers that accept no connection, never respond, or stop in the middle end at a limit', async () => {
  const silent = `http://127.0.0.1:${await listen(createTcpServer(() => undefined))}`
  await assertFails(callAddress(LOCAL, { url: silent, limits: { firstByteMs: 20 } }), 'timeout')
  await assertFails(callAddress(LOCAL, { url: silent, limits: { totalMs: 20 } }), 'timeout')
  await assertFails(openAddress(LOCAL, { url: silent, limits: { firstByteMs: 20 } }), 'timeout')
  const half = await serve((_req, res) => void res.write('half'))
  await assertFails(callAddress(LOCAL, { url: half, limits: { idleMs: 20 } }), 'timeout')
  const { body } = await openAddress(LOCAL, { url: half, limits: { idleMs: 20 } })
  await assertFails(buffer(body), 'timeout')
  const stuck = { ...LOCAL, test: { resolve: () => new Promise<string[]>(() => undefined) } }
  await assertFails(callAddress(stuck, { url: 'https://example.org/', limits: { connectMs: 20 } }), 'timeout')
  const noTls = { ...resolvingTo(rulesOf({ OUTGOING_ALLOW: 'a.example.org' }), '127.0.0.1') }
  const { port } = new URL(silent)
  await assertFails(callAddress(noTls, { url: `https://a.example.org:${port}/`, limits: { connectMs: 20 } }), 'timeout')
})

test('servers that break off, refuse, switch protocols or send something else are connection errors', async () => {
  const answers: [(socket: Socket) => void, OutgoingErrorCode][] = [
    [(socket) => socket.destroy(), 'connection'],
    [(socket) => void socket.end('not http\r\n\r\n'), 'connection'],
    [(socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'), 'connection'],
    [(socket) => void socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'), 'connection'],
    [(socket) => void socket.end(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`), 'too_large'],
  ]
  for (const [answer, code] of answers) {
    const port = await listen(
      createTcpServer((socket) => void socket.on('error', () => undefined).once('data', () => answer(socket))),
    )
    await assertFails(callAddress(LOCAL, { url: `http://127.0.0.1:${port}` }), code)
  }
  const closed = createTcpServer()
  const port = await listen(closed)
  closed.close()
  const error = await assertFails(callAddress(LOCAL, { url: `http://127.0.0.1:${port}` }), 'connection')
  assert.equal(error.detail, 'ECONNREFUSED')
})

test('endless bodies are cut, or end a download', async () => {
  const closed: Promise<unknown>[] = []
  const url = await serve((_req, res) => {
    closed.push(once(res, 'close'))
    const write = () => {
      while (!res.destroyed && res.write('x'.repeat(10_000))) {}
    }
    res.on('drain', write)
    write()
  })
  const answer = await callAddress(LOCAL, { url, limits: { bytes: 25_000 } })
  assert.deepEqual([answer.status, answer.body.length, answer.truncated], [200, 25_000, true])
  const { body } = await openAddress(LOCAL, { url, limits: { bytes: 25_000 } })
  await assertFails(buffer(body), 'too_large')
  const unread = await openAddress(LOCAL, { url })
  unread.body.destroy()
  await Promise.all(closed)
  assert.equal(closed.length, 3)
})

test('a download streams its content, and an announced size beyond the limit is refused before its content', async () => {
  const content = Buffer.alloc(300_000, 'ab')
  const url = await serve((_req, res) => void res.writeHead(200, { 'content-length': content.length }).end(content))
  const { status, headers, body } = await openAddress(LOCAL, { url, limits: { bytes: content.length } })
  assert.deepEqual([status, headers['content-length']], [200, String(content.length)])
  assert.ok((await buffer(body)).equals(content))
  await assertFails(openAddress(LOCAL, { url, limits: { bytes: content.length - 1 } }), 'too_large')
})

test('the caller cancels a call with their reason', async () => {
  const silent = `http://127.0.0.1:${await listen(createTcpServer(() => undefined))}`
  const controller = new AbortController()
  const call = callAddress(LOCAL, { url: silent, signal: controller.signal })
  controller.abort(new Error('The process stops'))
  await assert.rejects(call, /The process stops/)
  await assert.rejects(callAddress(LOCAL, { url: silent, signal: controller.signal }), /The process stops/)
})

test('certificates are checked for the name, and the proxy gets checked addresses only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-tls-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = 'subjectAltName=DNS:good.example.org'
  const options = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=test',
  ]
  execFileSync('openssl', ['req', '-x509', ...options, '-addext', names, '-keyout', keyFile, '-out', certFile], {
    stdio: 'pipe',
  })
  const ca = readFileSync(certFile, 'utf8')
  const https = createHttpsServer(
    { key: readFileSync(keyFile), cert: ca },
    (req, res) => void res.end(req.headers.host),
  )
  const port = await listen(https)
  const allowed = rulesOf({ OUTGOING_ALLOW: 'good.example.org other.example.org' })
  const rules = { ...allowed, test: { resolve: async () => ['127.0.0.1'], ca } }
  const good = { url: `https://good.example.org:${port}/` }
  assert.equal((await callAddress(rules, good)).body.toString(), `good.example.org:${port}`)
  const wrong = await assertFails(callAddress(rules, { url: `https://other.example.org:${port}/` }), 'tls')
  assert.equal(wrong.detail, 'ERR_TLS_CERT_ALTNAME_INVALID')
  await assertFails(callAddress({ ...allowed, test: { resolve: async () => ['127.0.0.1'] } }, good), 'tls')

  const seen: string[] = []
  const proxy = createServer()
  proxy.on('connect', (req, socket: Socket) => {
    seen.push(`${req.url} ${req.headers['proxy-authorization']}`)
    if (seen.length > 1) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const inner = connect(port, '127.0.0.1', () => void socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const each of [inner, socket]) each.on('error', () => undefined)
    inner.pipe(socket).pipe(inner)
  })
  const through = { ...rules, proxy: new Secret(`http://u:p@127.0.0.1:${await listen(proxy)}`) }
  assert.equal((await callAddress(through, good)).body.toString(), `good.example.org:${port}`)
  await assertFails(callAddress(through, good), 'connection')
  const login = `Basic ${Buffer.from('u:p').toString('base64')}`
  assert.deepEqual(seen, [`127.0.0.1:${port} ${login}`, `127.0.0.1:${port} ${login}`])
  await assertFails(callAddress(resolvingTo({ ...STRICT, proxy: through.proxy }, '10.0.0.1'), good), 'refused_address')
  assert.equal(seen.length, 2)
})

test('URLs of the operator can be private; JSON is bounded', async () => {
  const url = await serve(
    (req, res) =>
      void res.writeHead(req.url === '/404' ? 404 : 200).end(req.url === '/long' ? '1'.repeat(300_000) : '{"a":1}'),
  )
  assert.deepEqual(await readJsonWithin(url), { a: 1 })
  await assert.rejects(readJsonWithin(`${url}/404`), /status 404/)
  await assertFails(readJsonWithin(`${url}/long`), 'too_large')
  const { port } = new URL(url)
  assert.equal((await callAddress(OPERATOR_RULES, { url: `http://localhost:${port}/` })).status, 200)
})
