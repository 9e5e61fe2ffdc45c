// Writes a backup as a stream with only the current member in memory. The manifest is collected in a temporary file.
import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { END, type End, HEAD, type Head, MANIFEST, type ManifestEntry, type PresentEntry } from './archive-format.ts'

/** Small members are written together, in pieces of at least this size. */
const WRITE_BYTES = 256 * 1024

export type Content = Iterable<Buffer> | AsyncIterable<Buffer>

export type ArchiveWriter = Awaited<ReturnType<typeof createArchiveWriter>>

/**
 * Creates a writer that owns `sink` and ends it. If the sink fails, the current or the next call rejects. `index` receives the
 * head, the manifest and the end.
 */
export async function createArchiveWriter(head: Head, sink: Writable, index?: Writable) {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const manifestPath = join(folder, MANIFEST)
  const manifest = createWriteStream(manifestPath, { mode: 0o600 })
  const manifestDigest = createHash('sha256')
  let manifestBytes = 0
  const headBytes = Buffer.from(`${JSON.stringify(head)}\n`)
  // The call that writes throws the error.
  for (const stream of [sink, manifest, index]) stream?.on('error', () => undefined)
  const archive = openTar(sink, head.created)

  /** Adds a manifest entry, also for a file that is in an earlier backup or missing. */
  async function note(entry: ManifestEntry): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`)
    manifestDigest.update(line)
    manifestBytes += line.length
    await writeTo(manifest, line)
  }

  /** Does the same as `addStream` for a member in memory. */
  async function add(name: string, content: Buffer): Promise<PresentEntry> {
    await archive.add(name, content)
    const entry = { name, size: content.length, sha256: hash('sha256', content) }
    await note(entry)
    return entry
  }

  /** Adds a member of `size` bytes and returns its entry. @throws Error if the content has more or fewer bytes. */
  async function addStream(name: string, size: number, content: Content): Promise<PresentEntry> {
    const entry = { name, size, sha256: await archive.addStream(name, size, content) }
    await note(entry)
    return entry
  }

  /** Writes the manifest and the end. Returns the size of the archive. */
  async function finishTar(tar: ReturnType<typeof openTar>, end: Buffer): Promise<number> {
    await tar.addStream(MANIFEST, manifestBytes, createReadStream(manifestPath))
    await tar.add(END, end)
    return tar.finish()
  }

  const writer = {
    add,
    addStream,
    note,
    /** Writes the manifest and the end, and waits until the sink has accepted everything. */
    async finish(): Promise<{ bytes: number }> {
      manifest.end()
      await finished(manifest)
      const end: End = { id: head.id, manifestBytes, manifestSha256: manifestDigest.digest('hex') }
      const endBytes = Buffer.from(`${JSON.stringify(end)}\n`)
      const bytes = await finishTar(archive, endBytes)
      if (index === undefined) return { bytes }
      // Has the structure of a backup without content, so that the same code reads it.
      const short = openTar(index, head.created)
      await short.add(HEAD, headBytes)
      await finishTar(short, endBytes)
      return { bytes }
    },
    /** Deletes temporary files. Call it after `finish` or after a failure. */
    async dispose(): Promise<void> {
      manifest.destroy()
      if (sink !== process.stdout) sink.destroy()
      index?.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await writer.add(HEAD, headBytes)
    return writer
  } catch (error) {
    await writer.dispose()
    throw error
  }
}

/** Creates a tar file that is written to a stream. Its functions throw the error of the stream. */
function openTar(sink: Writable, created: string) {
  const tar = pack()
  const mtime = new Date(created)
  let bytes = 0

  async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let waiting: Buffer[] = []
    let waitingBytes = 0
    for await (const part of source) {
      waiting.push(part)
      waitingBytes += part.length
      bytes += part.length
      if (waitingBytes < WRITE_BYTES) continue
      yield Buffer.concat(waiting)
      waiting = []
      waitingBytes = 0
    }
    yield Buffer.concat(waiting)
  }

  // Standard output must stay open.
  const written = pipeline(tar as AsyncIterable<Buffer>, inPieces, sink, { end: sink !== process.stdout })
  written.catch(() => undefined)

  async function writing<T>(write: () => Promise<T>): Promise<T> {
    return write().catch((error) => {
      throw sink.errored ?? error
    })
  }

  return {
    add: (name: string, content: Buffer): Promise<void> =>
      writing(
        () =>
          new Promise((resolve, reject) => {
            const done = (error?: Error | null) => (error ? reject(error) : resolve())
            tar.entry({ name, size: content.length, mtime, mode: 0o600 }, content, done).on('error', reject)
          }),
      ),
    /** Returns the SHA-256 of the content, in hex. */
    addStream: (name: string, size: number, content: Content): Promise<string> =>
      writing(async () => {
        const digest = createHash('sha256')
        async function* checked(): AsyncGenerator<Buffer> {
          let left = size
          for await (const chunk of content) {
            left -= chunk.length
            if (left < 0) break
            digest.update(chunk)
            yield chunk
          }
          if (left !== 0) throw new Error(`${name} does not have the expected ${size} bytes`)
        }
        await pipeline(checked, tar.entry({ name, size, mtime, mode: 0o600 }))
        return digest.digest('hex')
      }),
    /** Ends the file. Returns its size when the stream has accepted everything. */
    async finish(): Promise<number> {
      tar.finalize()
      await written
      return bytes
    },
  }
}

/** Writes to a stream, and waits while its buffer is full. @throws the error of the stream, also of an earlier write. */
export async function writeTo(stream: Writable, content: Buffer): Promise<void> {
  if (stream.errored !== null) throw stream.errored
  if (!stream.write(content)) await once(stream, 'drain')
}
