// Reads an archive once, from its head to its end, and compares what it held with its manifest.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import tar from 'tar-stream'
import {
  ArchiveError,
  cutOff,
  damaged,
  END,
  type End,
  HEAD,
  type Head,
  MANIFEST,
  type ManifestEntry,
  parseEnd,
  parseHead,
} from './archive-format.ts'

export type Member = {
  name: string
  size: number
  /** Consumed, or destroyed, before the next member is asked for. */
  stream: Readable
  /** The SHA-256 of what was read, in hex, once the stream has ended. */
  sha256(): string
}

export type ArchiveReader = {
  head: Head
  /** Every member between head and manifest, in order. @throws ArchiveError */
  members(): AsyncGenerator<Member>
  /** After the last member: the manifest, of which every line was compared. In the order of its making. */
  manifest(): AsyncGenerator<ManifestEntry>
  dispose(): Promise<void>
}

const HEAD_BYTES_MAX = 16 * 1024 * 1024

/** @throws ArchiveError when it is no archive of Depot, or one that a newer version made. */
export async function openArchive(source: Readable): Promise<ArchiveReader> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const extract = tar.extract()
  const fed = pipeline(source, extract)
  fed.catch(() => undefined)
  const entries = extract[Symbol.asyncIterator]()
  const seen = createWriteStream(join(folder, 'seen.jsonl'), { mode: 0o600 })
  // Met by who waits for it; one that is destroyed with lines under way says so here.
  seen.on('error', () => undefined)
  const manifestPath = join(folder, MANIFEST)

  async function dispose(): Promise<void> {
    source.destroy()
    extract.destroy()
    seen.destroy()
    await rm(folder, { recursive: true, force: true })
  }

  /** Undefined after the last one. */
  async function next(): Promise<Member | undefined> {
    try {
      const { done, value } = await entries.next()
      if (done === true) return undefined
      return memberOf(value as unknown as Entry)
    } catch (cause) {
      throw unreadable(cause)
    }
  }

  async function see({ name, size, sha256 }: Member): Promise<void> {
    if (!seen.write(`${JSON.stringify({ name, size, sha256: sha256() })}\n`)) await once(seen, 'drain')
  }

  async function readHead(): Promise<Head> {
    const first = await next()
    if (first?.name !== HEAD || first.size > HEAD_BYTES_MAX) {
      throw new ArchiveError('This is no archive of `depot backup`: it does not begin with one')
    }
    const head = parseHead(await read(first))
    await see(first)
    return head
  }

  async function* members(): AsyncGenerator<Member> {
    for (;;) {
      const member = await next()
      if (member === undefined) throw cutOff()
      if (member.name === MANIFEST) return void (await readEnd(member))
      yield member
      if (!member.stream.readableEnded) await drain(member)
      await see(member)
    }
  }

  /** Keeps the manifest on disk, reads the end, and holds both against what was seen. */
  async function readEnd(manifest: Member): Promise<void> {
    await pipeline(manifest.stream, createWriteStream(manifestPath, { mode: 0o600 })).catch((cause) => {
      throw unreadable(cause)
    })
    const last = await next()
    if (last?.name !== END) throw cutOff()
    const end = parseEnd(await read(last))
    if (end.id !== head.id) throw damaged('its end is that of another archive')
    if (end.manifestBytes !== manifest.size || end.manifestSha256 !== manifest.sha256()) {
      throw damaged('its manifest was changed')
    }
    if ((await next()) !== undefined) throw damaged('there is more after its end')
    seen.end()
    await finished(seen)
    const found = readLines<ManifestEntry>(join(folder, 'seen.jsonl'))
    for await (const entry of readLines<ManifestEntry>(manifestPath)) {
      if ('absent' in entry || entry.in !== undefined) continue
      const { value } = await found.next()
      if (value === undefined || !('sha256' in value)) throw damaged(`${entry.name} is missing`)
      if (value.name !== entry.name || value.size !== entry.size || value.sha256 !== entry.sha256) {
        throw damaged(`${entry.name} is not what it was when the archive was made`)
      }
    }
    if ((await found.next()).done !== true) throw damaged('it holds what its manifest does not name')
  }

  let head: Head
  try {
    head = await readHead()
  } catch (error) {
    await dispose()
    throw error
  }
  return { head, members, manifest: () => readLines<ManifestEntry>(manifestPath), dispose }
}

type Entry = Readable & { header: tar.Header }

function memberOf(entry: Entry): Member {
  const hash = createHash('sha256')
  const { name, size, type } = entry.header
  if (type !== 'file') throw damaged(`${name} is no file`)
  let digest: string | undefined
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const stream = entry.pipe(tap)
  entry.on('error', (error) => tap.destroy(unreadable(error) as Error))
  entry.on('close', () => {
    if (!tap.writableEnded && !tap.destroyed) tap.destroy(cutOff())
  })
  return {
    name,
    size,
    stream,
    sha256: () => {
      digest ??= hash.digest('hex')
      return digest
    },
  }
}

async function drain({ stream }: Member): Promise<void> {
  stream.resume()
  await finished(stream).catch((cause) => {
    throw unreadable(cause)
  })
}

/** The bytes of a member that fits into memory. */
export async function read({ stream }: Member): Promise<Buffer> {
  return buffer(stream).catch((cause) => {
    throw unreadable(cause)
  })
}

/** What the tar format has to say of broken bytes, in our words; errors of the source itself stay what they are. */
export function unreadable(cause: unknown): unknown {
  if (cause instanceof ArchiveError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  if (/unexpected end|premature close|ERR_STREAM_PREMATURE/i.test(message)) return cutOff(cause)
  if (cause instanceof Error && 'syscall' in cause)
    return new ArchiveError(`The archive cannot be read: ${message}`, { cause })
  return damaged(message.charAt(0).toLowerCase() + message.slice(1), cause)
}

async function* readLines<T>(path: string): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield JSON.parse(line) as T
  }
}

/** The end is one block of tar, its header another, and two empty blocks close the file. */
const BLOCK = 512
const TAIL = 4 * BLOCK

/** What an increment needs of the archive before: its head, and its manifest, found from the end of the file. */
export async function openPrevious(path: string): Promise<{ head: Head; files: AsyncGenerator<ManifestEntry> }> {
  const head = await readHeadOf(path)
  const handle = await openFile(path)
  try {
    const { size } = await handle.stat()
    const tail = Buffer.alloc(TAIL)
    await handle.read(tail, 0, TAIL, Math.max(0, size - TAIL))
    if (tail.subarray(0, END.length).toString() !== END)
      throw new ArchiveError(`${path} is cut off; it cannot be built upon`)
    const end: End = parseEnd(tail.subarray(BLOCK, 2 * BLOCK).subarray(0, tail.indexOf('\n', BLOCK) - BLOCK))
    const start = size - TAIL - Math.ceil(end.manifestBytes / BLOCK) * BLOCK
    const range = { start, end: start + end.manifestBytes - 1 }
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path, range)) hash.update(chunk as Buffer)
    if (hash.digest('hex') !== end.manifestSha256) throw new ArchiveError(`${path} is damaged; it cannot be built upon`)
    return { head, files: readFiles(path, range) }
  } finally {
    await handle.close()
  }
}

async function* readFiles(path: string, range: { start: number; end: number }): AsyncGenerator<ManifestEntry> {
  for await (const line of createInterface({ input: createReadStream(path, range) })) {
    const entry = JSON.parse(line) as ManifestEntry
    if (entry.name.startsWith('files/')) yield entry
  }
}

/** @throws ArchiveError naming the file. */
export async function readHeadOf(path: string): Promise<Head> {
  const handle = await openFile(path)
  await handle.close()
  const reader = await openArchive(createReadStream(path))
  await reader.dispose()
  return reader.head
}

async function openFile(path: string) {
  return open(path, 'r').catch((cause: Error) => {
    throw new ArchiveError(`The archive ${path} cannot be opened: ${cause.message}`, { cause })
  })
}
