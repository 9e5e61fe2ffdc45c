// Uploads by an independent client of tus, through a line that is cut at random places.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type DetailedError, Upload } from 'tus-js-client'
import type { TestApp } from '../app/test-app.ts'
import { modJar, versionData } from './forms.ts'
import { listening } from './tus-requests.ts'

export type CuttingProxy = {
  url: string
  cuts(): number
  /** Cuts this number of further connections. */
  cut(more: number): void
  close(): Promise<void>
}

/**
 * Forwards each connection to the next of the servers, and cuts each of the first `cuts` connections after a random number of
 * bytes. It does not cut a connection that sends less.
 */
export async function startCuttingProxy(
  targets: readonly string[],
  { cuts: planned, minBytes = 1, maxBytes }: { cuts: number; minBytes?: number; maxBytes: number },
): Promise<CuttingProxy> {
  let cuts = 0
  let left = planned
  let connections = 0
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(targets[connections++ % targets.length] ?? '').port), '127.0.0.1')
    let bytes: number | undefined
    client.on('data', (chunk) => {
      if (bytes === undefined && left > 0) {
        left -= 1
        bytes = minBytes + Math.floor(Math.random() * (maxBytes - minBytes + 1))
      }
      if (bytes === undefined) return void upstream.write(chunk)
      upstream.write(chunk.subarray(0, Math.max(0, Math.min(chunk.length, bytes))))
      bytes -= chunk.length
      if (bytes > 0) return
      cuts += 1
      client.destroy()
      upstream.end()
    })
    upstream.pipe(client)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.end()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    cut: (more) => {
      left += more
    },
    close: async () => {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

export type TusUpload = {
  token: string
  bytes: Buffer
  filename: string
  chunkSize: number
  deferred?: boolean
  /** Called for each part that was acknowledged. */
  onPart?: () => void
}

/** Returns the ID of the finished upload. */
export function uploadByTus(
  url: string,
  { token, bytes, filename, chunkSize, deferred = false, onPart }: TusUpload,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: `${url}/v3/upload`,
      headers: { authorization: token, 'user-agent': 'depot-test' },
      metadata: { filename },
      chunkSize,
      uploadLengthDeferred: deferred,
      retryDelays: Array.from({ length: 1000 }, () => 20),
      onShouldRetry: (error: DetailedError) => {
        const status = error.originalResponse?.getStatus() ?? 0
        return status === 0 || status === 409 || status >= 500
      },
      ...(onPart === undefined ? {} : { onChunkComplete: onPart }),
      onError: reject,
      onSuccess: () => resolve(new URL(upload.url ?? '').pathname.split('/').at(-1) ?? ''),
    })
    upload.start()
  })
}

/** Uploads an archive of 1.5 MB through cut connections, publishes it, and compares the bytes. */
export async function checkTusUploads(t: TestApp, { deferred }: { deferred: boolean }): Promise<void> {
  const server = await listening(t)
  const project = await t.make.project()
  const bytes = modJar('tus', [{ name: 'noise.bin', data: randomBytes(1_500_000), stored: true }])
  const proxy = await startCuttingProxy([server], { cuts: 6, maxBytes: 500_000 })
  try {
    const upload = { token: project.owner.token, bytes, filename: 'tus.jar', chunkSize: 400_000, deferred }
    const id = await uploadByTus(proxy.url, upload)
    assert.ok(proxy.cuts() > 0, 'No connection was cut')
    const data = { ...versionData(), project_id: project.id, file_parts: [`upload:${id}`] }
    const made = await t.as(project.owner).post('/v3/version', data)
    assert.equal(made.statusCode, 201, made.body)
    const [file] = made.json().files
    assert.equal(file.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
    const stored = await t.anyone.get(new URL(file.url).pathname)
    assert.ok(stored.rawPayload.equals(bytes))
  } finally {
    await proxy.close()
  }
}
