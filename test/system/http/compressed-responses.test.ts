// Compressed responses of every kind, at sizes around the thresholds of the compressor.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import type { App } from '#platform/http/server.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { visitor } from '#test/support/http/visitor.ts'

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}
/** From 1 KiB on a response is compressed; from 4, 8 or 64 KiB on, by the number of processors, as a stream. */
const SIZES = [1024, 4096, 8192, 65_536].flatMap((size) => [size - 1, size, size + 1])

let t: TestApp
before(async () => {
  t = await testApp({ watch: addRoutes })
})
after(() => t?.close())

/** Routes that return `bytes` bytes in each way in which a route can. */
function addRoutes(app: App): void {
  const textOf = (req: { query: unknown }): string => 'x'.repeat(Number((req.query as { bytes: string }).bytes))
  const add = (
    kind: string,
    handler: (req: FastifyRequest, reply: FastifyReply) => unknown,
    response: object = {},
  ): void => {
    const schema = { operationId: `test${kind}`, hide: true, response }
    app.get(`/test/${kind}`, { config: { auth: 'public', cache: 'public' }, schema }, handler)
  }
  add('text', (req, reply) => void reply.type('text/plain').send(textOf(req)))
  add('bytes', async (req, reply) => reply.type('text/csv').send(Buffer.from(textOf(req))))
  add('object', async (req) => ({ text: textOf(req) }), { 200: Type.Object({ text: Type.String() }) })
  add('stream', async (req, reply) => reply.type('text/plain').send(Readable.from([textOf(req)])))
  add('error', async (req) => {
    throw invalidInput(textOf(req))
  })
  add('failure', async (_req, reply) =>
    reply.type('text/plain').send(
      new Readable({
        read() {
          this.destroy(new Error('the disk is broken'))
        },
      }),
    ),
  )
}

/** Checks that a path has the same response with each coding, also for HEAD. */
async function assertSame(url: string, status: number): Promise<void> {
  const headers = { accept: 'text/html', 'user-agent': 'tests', 'x-ratelimit-key': BYPASS_KEY }
  const plain = await t.inject({ method: 'GET', url, headers })
  assert.equal(plain.statusCode, status, url)
  assert.ok(plain.rawPayload.length > 0, url)
  for (const [coding, decode] of Object.entries(DECODERS)) {
    const name = `${url.slice(0, 60)} (${plain.rawPayload.length} bytes) ${coding}`
    const accepting = { ...headers, 'accept-encoding': coding }
    const answer = await t.inject({ method: 'GET', url, headers: accepting })
    const encoding = answer.headers['content-encoding']
    const body = encoding === undefined ? answer.rawPayload : decode(answer.rawPayload)
    assert.equal(answer.statusCode, status, name)
    assert.equal(withoutId(body.toString()), withoutId(plain.body), name)
    assert.equal(encoding, plain.rawPayload.length < 1024 && !url.includes('stream') ? undefined : coding, name)
    // HEAD does not read the stream.
    if (url === '/test/failure') continue
    const head = await t.inject({ method: 'HEAD', url, headers: accepting })
    for (const header of ['content-encoding', 'content-length', 'etag', 'vary'])
      assert.equal(head.headers[header], answer.headers[header], `${name} ${header}`)
  }
}

const withoutId = (text: string): string => text.replace(/[0-9a-f-]{36}/g, '')

for (const kind of ['text', 'bytes', 'object', 'stream', 'error']) {
  test(`${kind}: the same with each coding at every size`, async () => {
    for (const bytes of SIZES) await assertSame(`/test/${kind}?bytes=${bytes}`, kind === 'error' ? 400 : 200)
  })
}

test('a stream that fails before its first byte is an error that clients can read', async () => {
  await t.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = t.app.server.address() as AddressInfo
  const sent = await fetch(`http://127.0.0.1:${port}/test/failure`, { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(((await sent.json()) as { error: string }).error, 'internal_error')
  await assertSame('/test/failure', 500)
})

test('pages, error pages and feeds arrive whole, of every size and also from the cache', async () => {
  await t.make.project({ slug: 'whole', name: 'Whole' })
  await t.searchable()
  for (const path of ['/mod/zz', '/zz', '/account/zz', '/mods', '/project/whole', '/mods.atom']) {
    const { statusCode, body } = await visitor(t).get(path)
    for (const size of SIZES.filter((bytes) => bytes > body.length))
      await assertSame(`${path}?${'a+'.repeat((size - body.length) / 2)}`, statusCode)
    for (const _ of ['rendered', 'cached']) await assertSame(path, statusCode)
  }
})
