// HTTP clients over real connections: errors that precede the end of the body, and caches.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import got from 'got'
import cachingFetch from 'make-fetch-happen'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
let port: number
before(async () => {
  t = await testApp()
  await t.app.listen({ host: '127.0.0.1', port: 0 })
  port = (t.app.server.address() as AddressInfo).port
})
after(() => t.close())

type Reply = { status: number; body: string }
type Send = (path: string, headers: Record<string, string>, body: Buffer) => Promise<Reply>

const sendByNode =
  (agent: false | undefined): Send =>
  async (path, headers, body) => {
    const req = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent })
    const answered = once(req, 'response')
    req.end(body)
    const [res] = (await answered) as [IncomingMessage]
    return { status: res.statusCode ?? 0, body: Buffer.concat(await res.toArray()).toString() }
  }

const sendByFetch: Send = async (path, headers, body) => {
  const res = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: new Uint8Array(body) })
  return { status: res.status, body: await res.text() }
}

/** Writes the whole request before it reads the first byte. */
const sendBySocket =
  (connection: 'close' | 'keep-alive'): Send =>
  async (path, headers, body) => {
    const socket = connect(port, '127.0.0.1').pause()
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
    const all = { host: 'x', connection, 'content-length': body.length, ...headers }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    await Promise.race([new Promise((sent) => socket.write(body, sent)), failed])
    let text = ''
    const answered = new Promise<void>((done) => {
      socket.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        if (text.endsWith('}')) done()
      })
    })
    socket.resume()
    await Promise.race([answered, failed])
    socket.destroy()
    return { status: Number(text.split(' ')[1]), body: text.slice(text.indexOf('\r\n\r\n') + 4) }
  }

describe('an error that precedes the end of the body arrives', () => {
  // The second request reuses the connection of the first, if a client does that.
  const TRIES = 2
  const body = Buffer.alloc(6 * 1024 * 1024, ' ')
  const clients: Record<string, Send> = {
    'node:http': sendByNode(undefined),
    'node:http without reuse': sendByNode(false),
    fetch: sendByFetch,
    'a socket': sendBySocket('keep-alive'),
    'a socket that closes': sendBySocket('close'),
  }

  for (const [name, send] of Object.entries(clients)) {
    test(`at ${name}`, async () => {
      const { token } = await t.make.account()
      const open = {
        'user-agent': 'depot-tests/1.0',
        'x-ratelimit-key': BYPASS_KEY,
        'content-type': 'application/json',
      }
      const known = { ...open, authorization: token }
      for (let i = 0; i < TRIES; i += 1) {
        for (const [path, headers, status, error] of [
          ['/v3/version_files', open, 400, 'The body is larger than the limit of 256 KiB'],
          ['/v3/collection', known, 400, 'The body is larger than the limit of 2 MiB'],
          ['/v3/collection', open, 401, ''],
          ['/nothing', open, 404, ''],
        ] as const) {
          const reply = await send(path, headers, body)
          assert.equal(reply.status, status, `${path}, try ${i}`)
          assert.ok(JSON.parse(reply.body).description.includes(error))
        }
      }
    })
  }

  test('at a socket whose headers are too large', async () => {
    for (let i = 0; i < TRIES; i += 1) {
      const reply = await sendBySocket('close')('/nothing', { long: 'x'.repeat(1024 * 1024) }, Buffer.alloc(0))
      assert.equal(reply.status, 400)
      assert.match(reply.body, /The headers exceed 65536 bytes/)
    }
  })
})

describe('a cache of npm revalidates without a download', () => {
  /** Status of each response of the server. */
  const statuses: number[] = []
  let urls: string[]
  let folder: string
  before(async () => {
    const project = await t.make.project()
    await t.make.version({ project })
    const page = await t.anyone.get('/', { headers: { accept: 'text/html' } })
    const [style] = /\/assets\/[^"]+\.css/.exec(page.body) ?? []
    const paths = [
      'v3/tag/category',
      `v3/project/${project.id}`,
      `v3/project/${project.id}/version`,
      'docs/openapi.json',
    ]
    const pages = [
      '',
      `mod/${project.slug}`,
      'mods',
      `mod/${project.slug}/versions.atom`,
      'robots.txt',
      style?.slice(1),
    ]
    const viewer = ['docs/swagger-ui/', 'docs/swagger-ui/static/swagger-ui.css']
    urls = [...paths, ...pages, ...viewer].map((path) => `http://127.0.0.1:${port}/${path}`)
    folder = await mkdtemp(join(tmpdir(), 'depot-http-cache-'))
    t.app.server.on('request', (_req, res) => res.once('finish', () => statuses.push(res.statusCode)))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const headers = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY }
  const caches: Record<string, (url: string, headers: Record<string, string>) => Promise<string>> = {}
  const store = new Map()
  caches['got'] = async (url, more) =>
    got(url, { cache: store, headers: { ...headers, ...more }, retry: { limit: 0 } }).text()
  caches['make-fetch-happen'] = async (url, more) => {
    const cache = 'cache-control' in more ? 'no-cache' : 'default'
    const res = await cachingFetch(url, { cachePath: folder, cache, headers: { ...headers, ...more }, retry: false })
    return res.text()
  }

  for (const [name, load] of Object.entries(caches)) {
    test(name, async () => {
      for (const url of urls) {
        for (const accept of ['application/json', 'text/html']) {
          const first = await load(url, { accept })
          statuses.length = 0
          // The library that sends the files of the API viewer never answers 304 to `no-cache`.
          const fresh: Record<string, string> = url.includes('swagger') ? {} : { 'cache-control': 'no-cache' }
          for (const _ of [1, 2]) assert.equal(await load(url, { accept, ...fresh }), first, url)
          assert.deepEqual(statuses, [304, 304], `${url} ${accept}`)
        }
      }
    })
  }
})
