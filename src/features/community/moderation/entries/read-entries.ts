// Lists the entries of a version's files, compared with those of another version, and reads the text of one entry.
import { readEntries, readEntryStart, type StoredFile } from '#features/catalogue/versions/files/archive-entries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { type Label, labelsOf } from './labels.ts'

type EntryDeps = Pick<Deps, 'db' | 'files'>

export const STATES = ['added', 'removed', 'changed', 'same'] as const
export type EntryState = (typeof STATES)[number]

export type EntryRow = {
  path: string
  /** Size in bytes; null if the entry was removed. */
  size: number | null
  size_before: number | null
  state: EntryState
  labels: Label[]
}

export type EntryQuery = {
  file?: string | undefined
  text: string
  states?: readonly EntryState[] | undefined
  label?: Label | undefined
  count: number
  offset: number
}

/** Maximum number of files of which one response lists the entries. */
const FILES_MAX = 32
/** Maximum size of the text of an entry. */
export const TEXT_BYTES_MAX = 65_536

type FileRow = StoredFile & { id: string; filename: string; is_primary: boolean }

type Counts = Record<EntryState | Label, number>

export type FileEntries = {
  file: FileRow
  against: FileRow | undefined
  /** Undefined if the file is not an archive. */
  listed: { counts: Counts; matches: number; entries: EntryRow[] } | undefined
}

/** A version, and the version to compare its files with. */
type Compared = { versionId: string; against: string | undefined }

/**
 * Lists the entries that match, file by file, until `count` entries are listed.
 * @throws ApiError `invalid_input` if the version has no such file.
 */
export async function listEntries(
  { db, files }: EntryDeps,
  { versionId, against }: Compared,
  query: EntryQuery,
): Promise<{ files: FileEntries[]; omitted: number }> {
  const rows = await listFiles(db, [versionId, against ?? versionId])
  const all = rows.get(versionId) ?? []
  const wanted = query.file === undefined ? all : all.filter(({ id }) => id === query.file)
  if (query.file !== undefined && wanted.length === 0) throw invalidInput('The version has no such file', 'file')
  const lists = await compareFiles(files, { wanted, others: otherFiles(rows, against) }, query)
  return { files: lists, omitted: Math.max(0, wanted.length - FILES_MAX) }
}

/** Lists the entries of several versions, by version, with one statement. */
export async function listEntriesOf(
  { db, files }: EntryDeps,
  versions: readonly Compared[],
  query: EntryQuery,
): Promise<Map<string, FileEntries[]>> {
  const rows = await listFiles(
    db,
    versions.flatMap(({ versionId, against }) => [versionId, against ?? versionId]),
  )
  const lists = new Map<string, FileEntries[]>()
  for (const { versionId, against } of versions) {
    const wanted = rows.get(versionId) ?? []
    lists.set(versionId, await compareFiles(files, { wanted, others: otherFiles(rows, against) }, query))
  }
  return lists
}

const otherFiles = (rows: ReadonlyMap<string, FileRow[]>, against: string | undefined): readonly FileRow[] =>
  (against === undefined ? undefined : rows.get(against)) ?? []

async function compareFiles(
  files: EntryDeps['files'],
  { wanted, others }: { wanted: readonly FileRow[]; others: readonly FileRow[] },
  query: EntryQuery,
): Promise<FileEntries[]> {
  const lists: FileEntries[] = []
  let left = query.count
  for (const file of wanted.slice(0, FILES_MAX)) {
    const counterpart = others.find((other) => (file.is_primary ? other.is_primary : other.filename === file.filename))
    const [now, before] = [
      await readEntries(files, file),
      counterpart === undefined ? undefined : await readEntries(files, counterpart),
    ]
    const listed = now === undefined ? undefined : select(compare(now, before), { ...query, count: left })
    left -= listed?.entries.length ?? 0
    lists.push({ file, against: before === undefined ? undefined : counterpart, listed })
  }
  return lists
}

type Entry = { name: string; sizeBytes: number; crc32: number }

/** Compares by path; contents differ if their sizes or checksums differ. Without `before`, every entry is new. */
function compare(now: readonly Entry[], before: readonly Entry[] = []): EntryRow[] {
  const old = new Map(before.map((entry) => [entry.name, entry]))
  const rows = now.map((entry): EntryRow => {
    const previous = old.get(entry.name)
    old.delete(entry.name)
    const isSame = previous?.sizeBytes === entry.sizeBytes && previous.crc32 === entry.crc32
    return {
      path: entry.name,
      size: entry.sizeBytes,
      size_before: previous?.sizeBytes ?? null,
      state: previous === undefined ? 'added' : isSame ? 'same' : 'changed',
      labels: labelsOf(entry.name),
    }
  })
  for (const { name, sizeBytes } of old.values())
    rows.push({ path: name, size: null, size_before: sizeBytes, state: 'removed', labels: labelsOf(name) })
  return rows.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** Counts all entries, and returns one page of those that match. */
function select(rows: readonly EntryRow[], { text, states, label, count, offset }: EntryQuery) {
  const counts: Counts = {
    added: 0,
    removed: 0,
    changed: 0,
    same: 0,
    native_code: 0,
    script: 0,
    nested_archive: 0,
    unusual_name: 0,
  }
  const wanted = text.toLowerCase()
  const matching: EntryRow[] = []
  for (const row of rows) {
    counts[row.state] += 1
    for (const one of row.labels) counts[one] += 1
    const matches =
      (states?.includes(row.state) ?? true) &&
      (label === undefined || row.labels.includes(label)) &&
      row.path.toLowerCase().includes(wanted)
    if (matches) matching.push(row)
  }
  return { counts, matches: matching.length, entries: matching.slice(offset, offset + count) }
}

/**
 * Returns the text of an entry, at most 64 KiB; null if it is not text.
 * @throws ApiError 404 if the version has no such file or the file has no such entry.
 */
export async function readEntryText(
  { db, files }: EntryDeps,
  { versionId, fileId, path }: { versionId: string; fileId: string; path: string },
): Promise<{ path: string; size: number; text: string | null; complete: boolean }> {
  const file = (await listFiles(db, [versionId])).get(versionId)?.find(({ id }) => id === fileId)
  if (file === undefined) throw notFound('file')
  const entry = (await readEntries(files, file))?.find(({ name }) => name === path)
  if (entry === undefined) throw notFound('entry')
  const start = await readEntryStart(files, { file, entry, maxBytes: TEXT_BYTES_MAX })
  const text = start === undefined ? null : decodeText(start)
  return { path, size: entry.sizeBytes, text, complete: text !== null && entry.sizeBytes <= TEXT_BYTES_MAX }
}

/** Returns the text, or null for other content. The last character can be incomplete. */
function decodeText(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}

/** Returns the files of versions, by version. */
async function listFiles(db: Db, versionIds: readonly string[]): Promise<Map<string, FileRow[]>> {
  const rows = await db
    .selectFrom('file')
    .select(['version_id', 'id', 'filename', 'is_primary', 'storage_key', 'size_bytes'])
    .where('version_id', 'in', [...new Set(versionIds)])
    .orderBy('is_primary', 'desc')
    .orderBy('filename')
    .execute()
  return Map.groupBy(rows, (row) => row.version_id)
}
