// Reads a backup once, from its head to its end, and compares its members with the manifest.
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
  damaged,
  END,
  type End,
  HEAD,
  type Head,
  MANIFEST,
  type ManifestEntry,
  parseEnd,
  parseHead,
  truncated,
  unreadable,
} from './archive-format.ts'
import { createMemberReader, type Member } from './member-reader.ts'
import { BLOCK, TAR_END } from './tar-blocks.ts'

export type ArchiveReader = {
  head: Head
  /** Yields every member between the head and the manifest. Verifies the manifest at the end. @throws ArchiveError */
  members(): AsyncGenerator<Member>
  /** After the last member: yields the manifest entries whose files are in other backups or missing, in order. */
  elsewhere(): AsyncGenerator<ManifestEntry>
  dispose(): Promise<void>
}

const HEAD_BYTES_MAX = 16 * 1024 * 1024
/** Size of the buffer for lines. */
const LINES_BYTES = 64 * 1024

/** Opens a backup. @throws ArchiveError if the source is not a backup, or from a newer version of Depot. */
export async function openArchive(source: Readable): Promise<ArchiveReader> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const reader = createMemberReader(source)
  const manifestPath = join(folder, MANIFEST)
  const seenPath = join(folder, 'seen.jsonl')
  const seen = await createMemberList(seenPath)
  /** Whether the manifest lists only members of this backup. */
  let isComplete = false

  async function dispose(): Promise<void> {
    source.destroy()
    await seen.close()
    await rm(folder, { recursive: true, force: true })
  }

  async function readHead(): Promise<Head> {
    const first = await reader.next()
    if (first?.name !== HEAD || first.size > HEAD_BYTES_MAX) {
      throw new ArchiveError('The file is not a backup of `depot backup`: it does not start with the head of a backup')
    }
    const head = parseHead(await first.bytes())
    await seen.add(first)
    return head
  }

  async function* members(): AsyncGenerator<Member> {
    for (;;) {
      const member = await reader.next()
      if (member === undefined) throw truncated()
      if (member.name === MANIFEST) return void (await readEnd(member))
      yield member
      await seen.add(member)
    }
  }

  /** Writes the manifest to disk, reads the end, and compares both with the members. */
  async function readEnd(manifest: Member): Promise<void> {
    await pipeline(manifest.stream(), createWriteStream(manifestPath, { mode: 0o600 })).catch((cause) => {
      throw unreadable(cause)
    })
    const last = await reader.next()
    if (last?.name !== END || last.size > HEAD_BYTES_MAX) throw truncated()
    const end = parseEnd(await last.bytes())
    if (end.id !== head.id) throw damaged('its end belongs to another backup')
    if (end.manifestBytes !== manifest.size || end.manifestSha256 !== (await manifest.sha256())) {
      throw damaged('its manifest was changed')
    }
    if ((await reader.next()) !== undefined) throw damaged('it continues after its end')
    isComplete = (await seen.sha256()) === end.manifestSha256
    if (!isComplete) await compareEntries(manifestPath, seenPath)
  }

  async function* elsewhere(): AsyncGenerator<ManifestEntry> {
    if (isComplete) return
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

/** Lists the members that were read in a file, in the format of the manifest. */
async function createMemberList(path: string) {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let lines = ''

  async function writeLines(): Promise<void> {
    hash.update(lines)
    await file.appendFile(lines)
    lines = ''
  }

  return {
    async add(member: Member): Promise<void> {
      const { name, size } = member
      lines += `${JSON.stringify({ name, size, sha256: await member.sha256() })}\n`
      if (lines.length >= LINES_BYTES) await writeLines()
    },
    /** Completes the list and returns its hash. */
    async sha256(): Promise<string> {
      await writeLines()
      return hash.digest('hex')
    },
    close: () => file.close(),
  }
}

/** @throws ArchiveError if the members of this backup differ from the manifest. */
async function compareEntries(manifestPath: string, membersPath: string): Promise<void> {
  const members = readLines<ManifestEntry>(membersPath)
  for await (const entry of readLines<ManifestEntry>(manifestPath)) {
    if ('absent' in entry || entry.in !== undefined) continue
    const { value: member } = await members.next()
    if (member === undefined || !('sha256' in member)) throw damaged(`${entry.name} is missing`)
    if (member.name !== entry.name || member.size !== entry.size || member.sha256 !== entry.sha256) {
      throw damaged(`${entry.name} has changed since the backup was created`)
    }
  }
  if ((await members.next()).done !== true) throw damaged('it contains files that its manifest does not list')
}

async function* readLines<T>(path: string): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield JSON.parse(line) as T
  }
}

/** Size of the end of a backup: a header block, a content block and the end of the tar file. */
const TAIL = 2 * BLOCK + TAR_END.length

/** Reads the head and the manifest of the backup on which an incremental backup is based, starting at the end of the file. */
export async function openPrevious(path: string): Promise<{ head: Head; files: AsyncGenerator<ManifestEntry> }> {
  const head = await readHeadOf(path)
  const handle = await openFile(path)
  try {
    const { size } = await handle.stat()
    const tail = Buffer.alloc(TAIL)
    await handle.read(tail, 0, TAIL, Math.max(0, size - TAIL))
    if (tail.subarray(0, END.length).toString() !== END) {
      throw new ArchiveError(`${path} is truncated; name a complete backup for --since`)
    }
    const end: End = parseEnd(tail.subarray(BLOCK, 2 * BLOCK).subarray(0, tail.indexOf('\n', BLOCK) - BLOCK))
    const start = size - TAIL - Math.ceil(end.manifestBytes / BLOCK) * BLOCK
    const range = { start, end: start + end.manifestBytes - 1 }
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path, range)) hash.update(chunk as Buffer)
    if (hash.digest('hex') !== end.manifestSha256) {
      throw new ArchiveError(`${path} is damaged; name an intact backup for --since`)
    }
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

/** Reads the head of a backup file. @throws ArchiveError */
export async function readHeadOf(path: string): Promise<Head> {
  const handle = await openFile(path)
  await handle.close()
  const reader = await openArchive(createReadStream(path))
  await reader.dispose()
  return reader.head
}

async function openFile(path: string) {
  return open(path, 'r').catch((cause: Error) => {
    throw new ArchiveError(`The backup ${path} cannot be opened: ${cause.message}`, { cause })
  })
}
