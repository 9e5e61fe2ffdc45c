// Depot behind nginx with the file of deploy/nginx: large uploads, downloads, ranges and the IP address of the client.
// Skipped if nginx is not installed.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createDepot, type Depot, Form } from '#client/index.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../..')
const NGINX = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx'].find(existsSync)
/** More than a proxy buffers in memory, and more than its default limit of a body. */
const LARGE_BYTES = 24 * 1024 * 1024

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }
type Ask = { method?: string; headers?: Record<string, string>; body?: Buffer; from?: string }

describe('behind nginx', { skip: NGINX === undefined ? 'nginx is not installed' : false }, () => {
  const { dataDir, remove } = makeDataDir()
  const folder = mkdtempSync(join(tmpdir(), 'depot-nginx-'))
  let server: RunningDepot
  let nginx: ReturnType<typeof spawn>
  let port = 0
  let plainPort = 0
  const tokens = { author: '', moderator: '' }

  before(async () => {
    port = await freePort()
    server = await startDepot(dataDir, {
      BASE_URL: `https://depot.example.org:${port}`,
      CLIENT_ADDRESS_HEADER: 'X-Real-IP',
      RATE_LIMIT_BYPASS_KEY: 'k'.repeat(32),
    })
    ;({ child: nginx, plainPort } = await startNginx(folder, { port, upstream: new URL(server.url).host }))
    for (const [name, role] of [
      ['author', 'developer'],
      ['moderator', 'moderator'],
    ] as const) {
      const words = ['--username', name, '--email', `${name}@example.org`, '--password', 'violet-harbour-42-lamp']
      const made = await depot(dataDir, ['user', 'create', ...words, '--role', role])
      assert.equal(made.code, 0, made.stderr)
      const { stdout } = await depot(dataDir, ['token', 'create', '--user', name, '--scopes', 'all'])
      tokens[name] = stdout.trim()
    }
  })
  after(async () => {
    nginx?.kill('SIGTERM')
    await server?.stop()
    remove()
    rmSync(folder, { recursive: true, force: true })
  })

  function ask(path: string, { method = 'GET', headers = {}, body, from }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          servername: 'depot.example.org',
          rejectUnauthorized: false,
          ...(from === undefined ? {} : { localAddress: from }),
          headers: {
            host: 'depot.example.org',
            'user-agent': 'depot-tests/1 (tests@example.org)',
            ...(body === undefined ? {} : { 'content-length': String(body.length) }),
            ...headers,
          },
        },
        (answer) => {
          buffer(answer).then(
            (bytes) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes }),
            reject,
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
  const json = (answer: Answer) => JSON.parse(answer.body.toString('utf8'))

  function clientOf(token?: string): Depot {
    return createDepot({ url: 'https://depot.example.org', fetch: asFetch, ...(token === undefined ? {} : { token }) })
  }
  /** `fetch` accepts neither the certificate nor the name of the test. */
  async function asFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(String(input))
    const request = new Request(input, init)
    const body = init.body == null ? undefined : Buffer.from(await request.arrayBuffer())
    const headers = Object.fromEntries(request.headers)
    const answer = await ask(pathname + search, {
      method: request.method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const hasBody = answer.status !== 204 && answer.status !== 304
    const received = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string])
    return new Response(hasBody ? new Uint8Array(answer.body) : null, { status: answer.status, headers: received })
  }

  test('a large file is published, downloaded whole and by ranges, and answers "not modified"', async () => {
    const manifest = { id: 'lantern', version: '1.0.0', schemaVersion: 1, name: 'Lantern' }
    const large = randomBytes(LARGE_BYTES)
    const jar = makeZip([
      { name: 'fabric.mod.json', data: Buffer.from(JSON.stringify(manifest)) },
      { name: 'large.bin', data: large },
    ])
    const data = JSON.parse(readFileSync(join(ROOT, 'examples/project.json'), 'utf8'))
    const form = new Form(data, { file: new File([new Uint8Array(jar)], 'lantern-1.0.0.jar') })
    const { id, versions } = await clientOf(tokens.author).post('/v3/project', { body: form })
    const params = { path: { id } }
    await clientOf(tokens.moderator).patch('/v3/project/{id}', { params, body: { status: 'approved' } })

    const { files } = await clientOf().get('/v3/version/{id}', { params: { path: { id: versions[0] ?? '' } } })
    const [file] = files
    assert.ok(file !== undefined)
    const address = new URL(file.url)
    assert.equal(address.origin, `https://depot.example.org:${port}`, 'addresses are public ones')
    const whole = await ask(address.pathname)
    assert.equal(whole.status, 200)
    assert.equal(createHash('sha512').update(whole.body).digest('hex'), file.hashes.sha512)
    assert.ok(whole.body.equals(jar))
    const part = await ask(address.pathname, { headers: { range: 'bytes=1000000-1999999' } })
    assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 1000000-1999999/${jar.length}`])
    assert.ok(part.body.equals(jar.subarray(1_000_000, 2_000_000)))
    const again = await ask(address.pathname, { headers: { 'if-none-match': String(whole.headers['etag']) } })
    assert.deepEqual([again.status, again.body.length], [304, 0])
    const outside = await ask(address.pathname, { headers: { range: `bytes=${jar.length}-` } })
    assert.equal(outside.status, 416)
  })

  test('a large file is uploaded in parts', async () => {
    const project = await clientOf(tokens.author).get('/v3/project/{id}', { params: { path: { id: 'lantern' } } })
    const jar = modJar('uploaded', [{ name: 'large.bin', data: randomBytes(LARGE_BYTES), stored: true }])
    const file = new File([new Uint8Array(jar)], 'lantern-1.1.0.jar')
    const version = { ...versionData({ version_number: '1.1.0' }), project_id: project.id }
    const { files } = await clientOf(tokens.author).publish(version as never, [file])
    assert.equal(files[0]?.hashes.sha512, createHash('sha512').update(jar).digest('hex'))
  })

  test('a client is known by its real IP address, whatever its headers contain', async () => {
    const body = Buffer.from(JSON.stringify({ username: 'author', password: 'violet-harbour-42-lamp' }))
    const headers = { 'content-type': 'application/json', 'x-real-ip': '9.9.9.9', 'x-forwarded-for': '9.9.9.9' }
    const signedIn = await ask('/_internal/auth/login', { method: 'POST', headers, body, from: '127.0.0.2' })
    assert.equal(signedIn.status, 200, signedIn.body.toString('utf8'))
    const sessions = json(
      await ask('/_internal/session/list', { headers: { authorization: json(signedIn).session }, from: '127.0.0.3' }),
    )
    assert.deepEqual(
      sessions.map(({ ip }: { ip: string }) => ip),
      ['127.0.0.2'],
    )
  })

  test('URLs with a thousand IDs pass, metrics do not, and plain HTTP redirects to HTTPS', async () => {
    const ids = encodeURIComponent(
      JSON.stringify(Array.from({ length: 1000 }, (_, n) => `id${String(n).padStart(6, '0')}`)),
    )
    const many = await ask(`/v3/projects?ids=${ids}`)
    assert.deepEqual([many.status, json(many)], [200, []])
    assert.equal((await ask('/metrics')).status, 404)
    const plain = await fetch(`http://127.0.0.1:${plainPort}/v3/tag/loader?x=1`, { redirect: 'manual' })
    assert.deepEqual(
      [plain.status, plain.headers.get('location')],
      [308, 'https://depot.example.org/v3/tag/loader?x=1'],
    )
    const ready = await ask('/ready')
    assert.equal(ready.status, 200, ready.body.toString('utf8'))
    assert.match(String(ready.headers['strict-transport-security']), /max-age=/)
  })

  test('nothing of an upload stays on the disk of nginx', () => {
    const kept = execFileSync('find', [folder, '-type', 'f', '-size', '+1M'], { encoding: 'utf8' })
    assert.equal(kept, '')
  })
})

/** Starts nginx with the file of the repository, its addresses and its certificate replaced, and waits for its port. */
async function startNginx(folder: string, { port, upstream }: { port: number; upstream: string }) {
  const certificate = join(folder, 'certificate.pem')
  const key = join(folder, 'key.pem')
  const subject = ['-subj', '/CN=depot.example.org', '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject], {
    stdio: 'ignore',
  })
  const plainPort = await freePort()
  const site = readFileSync(join(ROOT, 'deploy/nginx/depot.conf'), 'utf8')
    .replace('server 127.0.0.1:8080;', `server ${upstream};`)
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
  writeFileSync(join(folder, 'site.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => {
    mkdirSync(join(folder, kind))
    return `${kind}_temp_path ${join(folder, kind)};`
  })
  chmodSync(folder, 0o755)
  const main = [
    process.getuid?.() === 0 ? 'user root;' : '',
    'daemon off;',
    'worker_processes 1;',
    `pid ${join(folder, 'nginx.pid')};`,
    `error_log ${join(folder, 'error.log')} warn;`,
    'events {}',
    `http { access_log off; ${temporary.join(' ')} include ${join(folder, 'site.conf')}; }`,
  ]
  writeFileSync(join(folder, 'nginx.conf'), main.join('\n'))
  const child = spawn(
    NGINX ?? 'nginx',
    ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
    { stdio: 'ignore' },
  )
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code) =>
      reject(new Error(`nginx ended with ${code}: ${readFileSync(join(folder, 'error.log'), 'utf8')}`)),
    )
  })
  ended.catch(() => undefined)
  await Promise.race([untilItListens(port), ended])
  return { child, plainPort }
}

/** Retries after each refused connection, because nginx does not report that it listens. */
async function untilItListens(port: number): Promise<void> {
  for (;;) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('close', () => socket.destroy())
      socket.once('connect', () => socket.end())
    })
    if (isThere) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}
