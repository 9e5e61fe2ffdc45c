// Writes a backup as a stream with only the current member in memory. The manifest is collected in a temporary file.
import { createHash, hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { END, type End, HEAD, type Head, MANIFEST, type ManifestEntry, type PresentEntry } from './archive-format.ts'
import { BLOCK, paddingOf, TAR_END, tarHeader } from './tar-blocks.ts'

/** Small members are written together, in pieces of at least this size. */
const WRITE_BYTES = 256 * 1024
const ZEROS = Buffer.alloc(BLOCK)

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
  const lines = createCollector(manifest, (content) => manifestDigest.update(content))
  const pieces = createCollector(sink)
  const headBytes = Buffer.from(`${JSON.stringify(head)}\n`)
  const mtime = Math.floor(Date.parse(head.created) / 1000)
  // `write` throws the error.
  for (const stream of [sink, manifest, index]) stream?.on('error', () => undefined)

  /** Writes a member and returns the SHA-256 of its content, in hex. */
  async function writeMember(name: string, size: number, content: Content, target = sink): Promise<string> {
    const writeOut = (piece: Buffer) => (target === sink ? pieces.add(piece) : writeTo(target, piece))
    await writeOut(tarHeader({ name, size, mtime }))
    const digest = createHash('sha256')
    let left = size
    for await (const chunk of content) {
      left -= chunk.length
      if (left < 0) break
      digest.update(chunk)
      await writeOut(chunk)
    }
    if (left !== 0) throw new Error(`${name} does not have the expected ${size} bytes`)
    await writeOut(ZEROS.subarray(0, paddingOf(size)))
    return digest.digest('hex')
  }

  /** Adds a manifest entry, also for a file that is in an earlier backup or missing. */
  async function note(entry: ManifestEntry): Promise<void> {
    await lines.add(Buffer.from(`${JSON.stringify(entry)}\n`))
  }

  /** Does the same as `addStream` for a member in memory. */
  async function add(name: string, content: Buffer): Promise<PresentEntry> {
    const size = content.length
    await pieces.add(tarHeader({ name, size, mtime }), content, ZEROS.subarray(0, paddingOf(size)))
    const entry = { name, size, sha256: hash('sha256', content) }
    await note(entry)
    return entry
  }

  /** Adds a member of `size` bytes and returns its entry. @throws Error if the content has more or fewer bytes. */
  async function addStream(name: string, size: number, content: Content): Promise<PresentEntry> {
    const entry = { name, size, sha256: await writeMember(name, size, content) }
    await note(entry)
    return entry
  }

  /** Has the structure of a backup without content, so that the same code reads it. */
  async function writeIndex(target: Writable, end: Buffer): Promise<void> {
    await writeMember(HEAD, headBytes.length, [headBytes], target)
    await writeMember(MANIFEST, lines.bytes(), createReadStream(manifestPath), target)
    await writeMember(END, end.length, [end], target)
    await pipeline(Readable.from([TAR_END]), target)
  }

  const writer = {
    add,
    addStream,
    note,
    /** Writes the manifest and the end, and waits until the sink has accepted everything. */
    async finish(): Promise<{ bytes: number }> {
      await lines.write()
      manifest.end()
      await finished(manifest)
      await writeMember(MANIFEST, lines.bytes(), createReadStream(manifestPath))
      const end: End = { id: head.id, manifestBytes: lines.bytes(), manifestSha256: manifestDigest.digest('hex') }
      const content = Buffer.from(`${JSON.stringify(end)}\n`)
      await writeMember(END, content.length, [content])
      await pieces.write()
      // Standard output must stay open.
      await pipeline(Readable.from([TAR_END]), sink, { end: sink !== process.stdout })
      if (index !== undefined) await writeIndex(index, content)
      return { bytes: pieces.bytes() + TAR_END.length }
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

/** Creates a collector of small pieces for a stream. */
function createCollector(stream: Writable, onWrite?: (content: Buffer) => void) {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let writtenBytes = 0

  /** Writes what was collected. */
  async function write(): Promise<void> {
    const content = waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    writtenBytes += content.length
    onWrite?.(content)
    await writeTo(stream, content)
  }

  return {
    write,
    async add(...added: readonly Buffer[]): Promise<void> {
      for (const piece of added) {
        waiting.push(piece)
        waitingBytes += piece.length
      }
      if (waitingBytes >= WRITE_BYTES) await write()
    },
    /** Returns the number of bytes that were written. */
    bytes: () => writtenBytes,
  }
}

/** Writes to a stream, and waits while its buffer is full. @throws the error of the stream, also of an earlier write. */
export async function writeTo(stream: Writable, content: Buffer): Promise<void> {
  if (stream.errored !== null) throw stream.errored
  if (!stream.write(content)) await once(stream, 'drain')
}
