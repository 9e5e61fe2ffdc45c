// Reads an archive once, from its head to its end, and compares what it held with its manifest.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
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
  unreadable,
} from './archive-format.ts'
import { createMemberReader, type Member } from './member-reader.ts'
import { BLOCK, TAR_END } from './tar-blocks.ts'

export type ArchiveReader = {
  head: Head
  /** Every member between head and manifest, in order. @throws ArchiveError */
  members(): AsyncGenerator<Member>
  /** After the last member: what the manifest, which was compared, places in other archives or nowhere, in its order. */
  elsewhere(): AsyncGenerator<ManifestEntry>
  dispose(): Promise<void>
}

const HEAD_BYTES_MAX = 16 * 1024 * 1024
/** Lines of what was seen are written in pieces of this size. */
const LINES_BYTES = 64 * 1024

/** @throws ArchiveError when it is no archive of Depot, or one that a newer version made. */
export async function openArchive(source: Readable): Promise<ArchiveReader> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const reader = createMemberReader(source)
  const manifestPath = join(folder, MANIFEST)
  const seenPath = join(folder, 'seen.jsonl')
  const seen = await open(seenPath, 'wx', 0o600)
  const seenHash = createHash('sha256')
  let lines = ''
  /** Whether the manifest names nothing but what is in this archive. */
  let isWhole = false

  async function dispose(): Promise<void> {
    source.destroy()
    await seen.close()
    await rm(folder, { recursive: true, force: true })
  }

  async function see(member: Member): Promise<void> {
    const { name, size } = member
    lines += `${JSON.stringify({ name, size, sha256: await member.sha256() })}\n`
    if (lines.length >= LINES_BYTES) await writeLines()
  }

  async function writeLines(): Promise<void> {
    seenHash.update(lines)
    await seen.appendFile(lines)
    lines = ''
  }

  async function readHead(): Promise<Head> {
    const first = await reader.next()
    if (first?.name !== HEAD || first.size > HEAD_BYTES_MAX) {
      throw new ArchiveError('This is no archive of `depot backup`: it does not begin with one')
    }
    const head = parseHead(await first.bytes())
    await see(first)
    return head
  }

  async function* members(): AsyncGenerator<Member> {
    for (;;) {
      const member = await reader.next()
      if (member === undefined) throw cutOff()
      if (member.name === MANIFEST) return void (await readEnd(member))
      yield member
      await see(member)
    }
  }

  /** Keeps the manifest on disk, reads the end, and holds both against what was seen. */
  async function readEnd(manifest: Member): Promise<void> {
    await pipeline(manifest.stream(), createWriteStream(manifestPath, { mode: 0o600 })).catch((cause) => {
      throw unreadable(cause)
    })
    const last = await reader.next()
    if (last?.name !== END || last.size > HEAD_BYTES_MAX) throw cutOff()
    const end = parseEnd(await last.bytes())
    if (end.id !== head.id) throw damaged('its end is that of another archive')
    if (end.manifestBytes !== manifest.size || end.manifestSha256 !== (await manifest.sha256())) {
      throw damaged('its manifest was changed')
    }
    if ((await reader.next()) !== undefined) throw damaged('there is more after its end')
    await writeLines()
    isWhole = seenHash.digest('hex') === end.manifestSha256
    if (!isWhole) await compareLines()
  }

  async function compareLines(): Promise<void> {
    const found = readLines<ManifestEntry>(seenPath)
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

  async function* elsewhere(): AsyncGenerator<ManifestEntry> {
    if (isWhole) return
    for await (const entry of readLines<ManifestEntry>(manifestPath)) {
      if ('absent' in entry || entry.in !== undefined) yield entry
    }
  }

  let head: Head
  try {
    head = await readHead()
  } catch (error) {
    await dispose()
    throw error
  }
  return { head, members, elsewhere, dispose }
}

async function* readLines<T>(path: string): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield JSON.parse(line) as T
  }
}

/** The end is one block of tar, its header another, and empty blocks close the file. */
const TAIL = 2 * BLOCK + TAR_END.length

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
