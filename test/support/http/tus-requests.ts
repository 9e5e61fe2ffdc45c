// Requests of the tus protocol over real connections, so that a test can cut them.
import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { BYPASS_KEY, type TestApp } from '../app/test-app.ts'

export type TusAnswer = { status: number; headers: IncomingHttpHeaders; body: string }
export type TusRequest = {
  as?: { token: string } | null
  body?: Buffer
  headers?: Record<string, string>
  /** Closes the connection after this many bytes of the body. */
  cutAt?: number
  chunked?: boolean
}

export const PART = { 'content-type': 'application/offset+octet-stream' }
export const metadata = (filename: string) => ({
  'upload-metadata': `filename ${Buffer.from(filename).toString('base64')}`,
})
/** Returns the ID of an upload whose path is the header `Location`. */
export const idOf = (path: string): string => path.split('/').at(-1) ?? ''

/** Returns the URL of the application, which listens from now on. */
export async function listening({ app }: TestApp): Promise<string> {
  const address = app.server.address()
  if (address === null) return app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(address as AddressInfo).port}`
}

export type TusClient = ReturnType<typeof tusClient>

/** @param owner whose uploads these are; a request can name another person, or nobody (null). */
export function tusClient(t: TestApp, base: string, owner: { token: string }) {
  const open = (method: string, path: string, { as = owner, headers = {} }: TusRequest): ClientRequest =>
    request(new URL(path, base), {
      method,
      headers: {
        'user-agent': 'depot-test',
        'x-ratelimit-key': BYPASS_KEY,
        'tus-resumable': '1.0.0',
        ...(as === null ? {} : { authorization: as.token }),
        ...headers,
      },
    })

  function send(method: string, path: string, of: TusRequest = {}): Promise<TusAnswer> {
    const { body, cutAt, chunked = false, headers = {} } = of
    return new Promise((resolve, reject) => {
      const length = body === undefined || chunked ? {} : { 'content-length': String(body.length) }
      const req = open(method, path, { ...of, headers: { ...length, ...headers } })
      req.on('response', (res) => {
        buffer(res).then(
          (text) => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text.toString() }),
          reject,
        )
      })
      req.on('error', (error) => (cutAt === undefined ? reject(error) : resolve({ status: 0, headers: {}, body: '' })))
      if (body === undefined || cutAt === undefined) return void req.end(body)
      req.flushHeaders()
      req.write(body.subarray(0, cutAt), () => setTimeout(() => req.destroy(), 20))
    })
  }

  /** Returns the path of a new upload. */
  async function create(length: number, headers: Record<string, string> = {}): Promise<string> {
    const of = { headers: { 'upload-length': String(length), ...metadata('a.jar'), ...headers } }
    const made = await send('POST', '/v3/upload', of)
    assert.equal(made.status, 201, made.body)
    return made.headers.location ?? ''
  }

  const patch = (path: string, offset: number, body: Buffer, of: TusRequest = {}) =>
    send('PATCH', path, { ...of, body, headers: { ...PART, 'upload-offset': String(offset), ...of.headers } })

  const leaseOf = async (path: string): Promise<string | null | undefined> => {
    const { rows } = await sql<{ lease: string | null }>`select lease from upload where id = ${idOf(path)}`.execute(
      t.deps.db,
    )
    return rows[0]?.lease
  }

  /** Returns the acknowledged offset, once a cut request is stored: that happens after the client has disconnected. */
  async function storedOffset(path: string): Promise<number> {
    while (typeof (await leaseOf(path)) === 'string') await sleep(5)
    return Number((await send('HEAD', path)).headers['upload-offset'])
  }

  /** Starts a PATCH that sends only the beginning of its body, and waits until it has the upload. */
  async function slowPatch(path: string, { offset, begin, length }: { offset: number; begin: Buffer; length: number }) {
    const headers = { ...PART, 'upload-offset': String(offset), 'content-length': String(length) }
    const req = open('PATCH', path, { headers })
    req.on('error', () => undefined)
    req.write(begin)
    while (typeof (await leaseOf(path)) !== 'string') await sleep(5)
    return {
      /** Lets other requests take over, as after ten silent seconds. */
      expire: () => sql`update upload set lease_until = clock_timestamp() where id = ${idOf(path)}`.execute(t.deps.db),
      end: (rest: Buffer) =>
        new Promise<number>((resolve) => {
          req.on('response', (res) => resolve(res.resume().statusCode ?? 0))
          req.end(rest)
        }),
    }
  }

  async function uploaded(bytes: Buffer, filename: string): Promise<string> {
    const path = await create(bytes.length, metadata(filename))
    assert.equal((await patch(path, 0, bytes)).status, 204)
    return `upload:${idOf(path)}`
  }

  /** Returns the stored bytes of an upload. */
  async function storedBytes(path: string): Promise<Buffer> {
    const { rows } = await sql<{ key: string; size: number }>`
      select storage_key as key, size_bytes as size from upload_part
      where upload_id = ${idOf(path)} order by start`.execute(t.deps.db)
    const parts = await Promise.all(
      rows.map(async ({ key, size }) => {
        const opened = await t.deps.files.open(key, { end: size - 1 })
        return buffer(opened?.stream as Readable)
      }),
    )
    return Buffer.concat(parts)
  }

  return { send, create, patch, storedOffset, slowPatch, uploaded, storedBytes }
}
