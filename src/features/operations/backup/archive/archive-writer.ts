// Writes a backup as a stream with only the current member in memory. The manifest is collected in a temporary file.
import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { END, type End, HEAD, type Head, MANIFEST, type ManifestEntry } from './archive-format.ts'
import { paddingOf, TAR_END, tarHeader } from './tar-blocks.ts'

export type ArchiveWriter = {
  add(name: string, bytes: Buffer): Promise<void>
  /** Adds a member of `size` bytes from a stream. @throws Error if the stream has more or fewer bytes. */
  addStream(name: string, size: number, stream: Readable): Promise<void>
  /** Adds a manifest entry for a file that is in an earlier backup or missing. */
  note(entry: ManifestEntry): Promise<void>
  /** Writes the manifest and the end, and waits until the sink has accepted everything. */
  finish(): Promise<{ bytes: number }>
  /** Deletes temporary files. Call it after `finish` or after a failure. */
  dispose(): Promise<void>
}

/** Size of the buffer for lines of the manifest. */
const LINES_BYTES = 64 * 1024

/** Creates a writer that owns `sink` and ends it. If the sink fails, the current or the next call rejects. */
export async function createArchiveWriter(head: Head, sink: Writable): Promise<ArchiveWriter> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const manifest = await createManifest(join(folder, MANIFEST))
  const mtime = Math.floor(Date.parse(head.created) / 1000)
  const out = createBlockWriter(sink)

  async function begin(name: string, size: number): Promise<void> {
    await out.write(tarHeader({ name, size, mtime }))
  }

  async function write(name: string, content: Buffer): Promise<void> {
    await begin(name, content.length)
    await out.write(content)
    await out.write(Buffer.alloc(paddingOf(content.length)))
  }

  /** Returns the SHA-256 of the content, in hex. */
  async function writeStream(name: string, size: number, stream: Readable): Promise<string> {
    await begin(name, size)
    const digest = createHash('sha256')
    let bytes = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > size) break
      digest.update(chunk)
      await out.write(chunk)
    }
    if (bytes !== size) throw new Error(`${name} does not have the expected ${size} bytes`)
    await out.write(Buffer.alloc(paddingOf(size)))
    return digest.digest('hex')
  }

  async function add(name: string, content: Buffer): Promise<void> {
    await write(name, content)
    await manifest.add({ name, size: content.length, sha256: hash('sha256', content) })
  }

  const writer: ArchiveWriter = {
    add,
    async addStream(name, size, stream) {
      await manifest.add({ name, size, sha256: await writeStream(name, size, stream) })
    },
    note: manifest.add,
    async finish() {
      const { bytes, sha256 } = await manifest.finish()
      await writeStream(MANIFEST, bytes, createReadStream(join(folder, MANIFEST)))
      const end: End = { id: head.id, manifestBytes: bytes, manifestSha256: sha256 }
      await write(END, Buffer.from(`${JSON.stringify(end)}\n`))
      await out.write(TAR_END)
      return { bytes: await out.end() }
    },
    async dispose() {
      await out.dispose()
      await manifest.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await add(HEAD, Buffer.from(`${JSON.stringify(head)}\n`))
    return writer
  } catch (error) {
    await writer.dispose()
    throw error
  }
}

/** Collects the lines of the manifest in a file. */
async function createManifest(path: string) {
  const file = await open(path, 'wx', 0o600)
  const digest = createHash('sha256')
  let lines = ''
  let bytes = 0

  async function flush(): Promise<void> {
    const content = Buffer.from(lines)
    lines = ''
    digest.update(content)
    bytes += content.length
    await file.appendFile(content)
  }

  return {
    async add(entry: ManifestEntry): Promise<void> {
      lines += `${JSON.stringify(entry)}\n`
      if (lines.length >= LINES_BYTES) await flush()
    },
    async finish(): Promise<{ bytes: number; sha256: string }> {
      await flush()
      return { bytes, sha256: digest.digest('hex') }
    },
    close: () => file.close(),
  }
}

/** Size of the pieces that are written to the sink. */
const CHUNK_BYTES = 512 * 1024

/**
 * Collects writes in two large buffers: one is filled while the sink writes the other. The sink must not use a buffer
 * after its callback.
 */
function createBlockWriter(sink: Writable) {
  let filling = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let other = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  let bytes = 0
  let sending: Promise<void> = Promise.resolve()
  let problem: Error | undefined
  sink.on('error', (error) => {
    problem ??= error
  })

  async function flush(): Promise<void> {
    await sending
    sending = send(filling.subarray(0, filled))
    // The next flush awaits this promise and reports the error.
    sending.catch(() => undefined)
    const sent = filling
    filling = other
    other = sent
    filled = 0
  }

  function send(piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (problem !== undefined) return reject(problem)
      sink.write(piece, (error) => (error ? reject(problem ?? error) : resolve()))
    })
  }

  return {
    async write(content: Buffer): Promise<void> {
      bytes += content.length
      for (let at = 0; at < content.length; ) {
        const count = content.copy(filling, filled, at)
        filled += count
        at += count
        if (filled === CHUNK_BYTES) await flush()
      }
    },
    /** Ends the sink and returns the number of written bytes. */
    async end(): Promise<number> {
      await flush()
      await sending
      // Standard output must stay open.
      if (sink === process.stdout) return bytes
      sink.end()
      await finished(sink)
      return bytes
    },
    async dispose(): Promise<void> {
      await sending.catch(() => undefined)
      if (sink !== process.stdout && !sink.destroyed) sink.destroy()
    },
  }
}
