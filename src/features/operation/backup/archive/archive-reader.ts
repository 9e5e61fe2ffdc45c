// Reads a backup once, from its head to its end, and compares its members with the manifest.
import { hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  ArchiveError,
  damaged,
  END,
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

export type ArchiveReader = Awaited<ReturnType<typeof openArchive>>

const HEAD_BYTES_MAX = 16 * 1024 * 1024

/** Opens a backup. @throws ArchiveError if the source is not a backup, or from a newer version of Depot. */
export async function openArchive(source: Readable) {
  // `reader.next` throws the error.
  source.on('error', () => undefined)
  const folder = await mkdtemp(join(tmpdir(), 'depot-manifest-'))
  const manifestPath = join(folder, MANIFEST)
  const reader = createMemberReader(source)
  /** Checksums of the manifest lines of the members that were read. */
  const seen: number[] = []

  async function dispose(): Promise<void> {
    source.destroy()
    await rm(folder, { recursive: true, force: true })
  }

  async function see(member: Member): Promise<void> {
    const { name, size } = member
    seen.push(checksumOf(JSON.stringify({ name, size, sha256: await member.sha256() })))
  }

  async function readHead(): Promise<Head> {
    const first = await reader.next()
    if (first?.name !== HEAD || first.size > HEAD_BYTES_MAX)
      throw new ArchiveError('The file is not a backup of `depot backup`: it does not start with the head of a backup')
    const head = parseHead(await first.bytes())
    await see(first)
    return head
  }

  /** Yields every member between the head and the manifest. Verifies the manifest at the end. @throws ArchiveError */
  async function* members(): AsyncGenerator<Member> {
    for (;;) {
      const member = await reader.next()
      if (member === undefined) throw truncated()
      if (member.name === MANIFEST) return void (await readEnd(member))
      yield member
      await see(member)
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
    if (end.manifestBytes !== manifest.size || end.manifestSha256 !== (await manifest.sha256()))
      throw damaged('its manifest was changed')
    if ((await reader.next()) !== undefined) throw damaged('it continues after its end')
    let count = 0
    for await (const { entry, line } of readEntries(createReadStream(manifestPath))) {
      if (isElsewhere(entry)) continue
      if (seen[count] !== checksumOf(line)) throw damaged(`${entry.name} is missing or was changed`)
      count += 1
    }
    if (count < seen.length) throw damaged('it contains files that its manifest does not list')
  }

  /** After the last member: yields the manifest entries whose files are in other backups or missing, in order. */
  async function* elsewhere(): AsyncGenerator<ManifestEntry> {
    for await (const { entry } of readEntries(createReadStream(manifestPath))) if (isElsewhere(entry)) yield entry
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

/** Returns a number of 48 bits, so that millions of them fit into memory. */
const checksumOf = (line: string): number => hash('sha256', line, 'buffer').readUIntBE(0, 6)

const isElsewhere = (entry: ManifestEntry): boolean => 'absent' in entry || entry.in !== undefined

export async function* readEntries(manifest: Readable): AsyncGenerator<{ entry: ManifestEntry; line: string }> {
  for await (const line of createInterface({ input: manifest })) yield { entry: JSON.parse(line), line }
}
