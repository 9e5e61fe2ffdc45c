// Writes an archive as it is made: nothing but the member under way is in memory. The manifest grows in a file beside.
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Readable, Transform, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import tar from 'tar-stream'
import { END, type End, HEAD, type Head, MANIFEST, type ManifestEntry } from './archive-format.ts'

export type ArchiveWriter = {
  add(name: string, bytes: Buffer): Promise<void>
  /** `size` bytes of a stream, which is consumed. @throws when it has more or fewer. */
  addStream(name: string, size: number, stream: Readable): Promise<void>
  /** Notes a member that is in an earlier archive, or nowhere. */
  note(entry: ManifestEntry): Promise<void>
  /** Writes manifest and end, and waits until the sink has taken everything. */
  finish(): Promise<{ bytes: number }>
  /** Removes what is beside the archive; after `finish`, or after a failure. */
  dispose(): Promise<void>
}

/** Takes `sink` over and ends it. A failure of the sink rejects the call under way. */
export async function createArchiveWriter(head: Head, sink: Writable): Promise<ArchiveWriter> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const manifest = createWriteStream(join(folder, MANIFEST), { mode: 0o600 })
  // Met by who waits for it; one that is destroyed with lines under way says so here.
  manifest.on('error', () => undefined)
  const manifestHash = createHash('sha256')
  const mtime = new Date(head.created)
  const pack = tar.pack()
  let bytes = 0
  let manifestBytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      done(null, chunk)
    },
  })
  const written = pipeline(pack, counter, sink)
  // Met by the call under way, through `unlessBroken`.
  written.catch(() => undefined)
  const broken = new Promise<never>((_, reject) => written.catch(reject))
  broken.catch(() => undefined)
  const unlessBroken = <T>(work: Promise<T>): Promise<T> => Promise.race([work, broken])

  /** The library throws when its stream is gone; why it is gone is what matters. */
  async function begin<T>(make: () => T): Promise<T> {
    try {
      return make()
    } catch (error) {
      await written
      throw error
    }
  }

  async function write(name: string, content: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onDone = (error?: Error | null): void => (error ? reject(error) : resolve())
    promise.catch(() => undefined)
    await begin(() => pack.entry({ name, size: content.length, mtime, mode: 0o600 }, content, onDone))
    await unlessBroken(promise)
  }

  async function note(entry: ManifestEntry): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`)
    manifestHash.update(line)
    manifestBytes += line.length
    if (!manifest.write(line)) await once(manifest, 'drain')
  }

  async function add(name: string, content: Buffer): Promise<void> {
    await write(name, content)
    await note({ name, size: content.length, sha256: createHash('sha256').update(content).digest('hex') })
  }

  const writer: ArchiveWriter = {
    add,
    async addStream(name, size, stream) {
      const hash = createHash('sha256')
      const entry = await begin(() => pack.entry({ name, size, mtime, mode: 0o600 }))
      await unlessBroken(pipeline(stream, hashing(hash), entry))
      await note({ name, size, sha256: hash.digest('hex') })
    },
    note,
    async finish() {
      manifest.end()
      await finished(manifest)
      const entry = await begin(() => pack.entry({ name: MANIFEST, size: manifestBytes, mtime, mode: 0o600 }))
      await unlessBroken(pipeline(createReadStream(join(folder, MANIFEST)), entry))
      const end: End = { id: head.id, manifestBytes, manifestSha256: manifestHash.digest('hex') }
      await write(END, Buffer.from(`${JSON.stringify(end)}\n`))
      pack.finalize()
      await written
      return { bytes }
    },
    async dispose() {
      pack.destroy()
      manifest.destroy()
      await written.catch(() => undefined)
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

function hashing(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}
