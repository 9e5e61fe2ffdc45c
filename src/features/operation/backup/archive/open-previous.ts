// Reads the backup on which an incremental backup is based.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { ArchiveError, BLOCK, END, type End, type Head, type ManifestEntry, parseEnd } from './archive-format.ts'
import { readEntries } from './archive-reader.ts'
import { fileSource, isEncrypted, openBackup, type Source } from './encryption.ts'

/** The index of an encrypted backup, which this machine cannot decrypt, is next to it. */
export const indexPath = (path: string): string => `${path}.index`

/** Size of the end of a backup: a header block, a content block, and the 2 blocks that end a tar file. */
const TAIL = 4 * BLOCK

export type Previous = { head: Head; files: AsyncGenerator<ManifestEntry> }

/** Reads the head and the manifest of the backup on which an incremental backup is based, starting at the end of the file. */
export async function openPrevious(named: string): Promise<Previous> {
  const path = (await isEncrypted(named)) ? await indexOf(named) : named
  const head = await readHeadOf(fileSource(path))
  const { size } = await stat(path)
  const tail = await buffer(createReadStream(path, { start: Math.max(0, size - TAIL) }))
  if (tail.subarray(0, END.length).toString() !== END)
    throw new ArchiveError(`${path} is truncated; name a complete backup for --since`)
  const end: End = parseEnd(tail.subarray(BLOCK, tail.indexOf('\n', BLOCK)))
  const start = size - TAIL - Math.ceil(end.manifestBytes / BLOCK) * BLOCK
  const range = { start, end: start + end.manifestBytes - 1 }
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path, range)) digest.update(chunk)
  if (digest.digest('hex') !== end.manifestSha256)
    throw new ArchiveError(`${path} is damaged; name an intact backup for --since`)
  return { head, files: readFiles(path, range) }
}

async function* readFiles(path: string, range: { start: number; end: number }): AsyncGenerator<ManifestEntry> {
  for await (const { entry } of readEntries(createReadStream(path, range))) {
    if (entry.name.startsWith('files/')) yield entry
  }
}

async function indexOf(path: string): Promise<string> {
  const index = indexPath(path)
  await stat(index).catch((cause) => {
    throw new ArchiveError(`${path} is encrypted, and its index ${index} is missing. Create a complete backup.`, {
      cause,
    })
  })
  return index
}

/** Reads the head of a backup. @throws ArchiveError */
export async function readHeadOf(source: Source, identities: readonly string[] = []): Promise<Head> {
  const reader = await openBackup(source, identities)
  await reader.dispose()
  return reader.head
}
