// Chooses the files of an archive: those of a version or of the projects of a collection, with their dependencies.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import { type ChooseDeps, chooseRequired } from '#features/catalogue/resolve/choose-required.ts'
import type { CachedVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionFilter } from '#features/catalogue/versions/lookup/version-filter.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import type { Db } from '#platform/db/db.ts'

const FILES_MAX = 512
const BYTES_MAX = 4 * 1024 ** 3

export type ArchivedFile = {
  /** Name in the archive, unique even if case is ignored. */
  name: string
  storageKey: string
  sizeBytes: number
  sha512: string
  /** Publication date of the version. */
  at: Date
  /** Returns the content of a file inside the stored file. */
  read?: () => Promise<Buffer>
}

export type Archive = {
  files: ArchivedFile[]
  /** Generated texts, before the files. */
  texts?: readonly { name: string; content: string }[]
  /** Versions of the files. `isRequired`: included only as a dependency. */
  versions: { id: string; projectId: string; isRequired: boolean }[]
  /** Depends only on the content and the names of the files. */
  etag: string
}

export type ArchiveRequest = {
  versions: readonly CachedVersion[]
  /** File names to include, all files, or only the primary file of each version. */
  files: readonly string[] | 'all' | 'primary'
  /** Filter for the versions of dependencies; undefined to omit dependencies. */
  requires: { filter: VersionFilter } | undefined
}

/**
 * Chooses the files of an archive.
 * @throws ApiError `invalid_input` (field `files`) for an unknown file name or if the files exceed the limits; 404 if
 * there are no files.
 */
export async function chooseFiles(
  deps: ChooseDeps,
  viewer: Viewer | null,
  { versions, files, requires }: ArchiveRequest,
): Promise<Archive> {
  const required = requires === undefined ? [] : await listAllRequired(deps, viewer, versions, requires.filter)
  const all = [...versions, ...required]
  const ids = all.map(({ id }) => id)
  const rows = await listFileRows(deps.db, ids)
  const chosen = versions.flatMap(({ id }) => selectFiles(rows.get(id) ?? [], files))
  if (Array.isArray(files)) requireNames(files, chosen)
  chosen.push(...required.flatMap(({ id }) => selectFiles(rows.get(id) ?? [], 'primary')))
  if (chosen.length === 0) throw notFound('file')
  checkLimits(chosen)
  const used = new Set(chosen.map(({ version_id }) => version_id))
  const named = withNames(chosen)
  const isRequired = new Set(required.map(({ id }) => id))
  return {
    files: named,
    versions: all.flatMap(({ id, project }) =>
      used.has(id) ? [{ id, projectId: project.id, isRequired: isRequired.has(id) }] : [],
    ),
    etag: `"${createHash('sha1').update(JSON.stringify(named)).digest('base64url')}"`,
  }
}

/**
 * Returns the versions that these versions require, recursively.
 * @throws ApiError `invalid_input` if there are more than an archive can contain.
 */
export async function listAllRequired(
  deps: ChooseDeps,
  viewer: Viewer | null,
  roots: readonly CachedVersion[],
  filter: VersionFilter,
): Promise<CachedVersion[]> {
  const required = await chooseRequired(deps, viewer, roots, filter)
  if (roots.length + required.length > FILES_MAX) throw tooMany('dependencies')
  return required.map(({ version }) => version)
}

type FileRow = {
  version_id: string
  project_id: string
  filename: string
  is_primary: boolean
  size_bytes: number
  sha512: string
  storage_key: string
  date_published: Date
}

/** Returns the files by version ID, the primary file first, without blocked contents. */
async function listFileRows(db: Db, versionIds: readonly string[]): Promise<Map<string, FileRow[]>> {
  const rows = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(['version_id', 'project_id', 'filename', 'is_primary', 'size_bytes', 'sha512', 'storage_key'])
    .select('date_published')
    .where(sql<boolean>`version_id = any(${[...versionIds]}::text[])`)
    .where(isNotBlocked())
    .orderBy('is_primary', 'desc')
    .orderBy('file.id')
    .execute()
  return Map.groupBy(rows, ({ version_id }) => version_id)
}

function selectFiles(rows: FileRow[], files: ArchiveRequest['files']): FileRow[] {
  if (files === 'all') return rows
  return files === 'primary' ? rows.slice(0, 1) : rows.filter(({ filename }) => files.includes(filename))
}

function requireNames(names: readonly string[], files: readonly FileRow[]): void {
  const missing = names.find((name) => !files.some(({ filename }) => filename === name))
  if (missing !== undefined) throw invalidInput(`The version has no file ${JSON.stringify(missing)}`, 'files')
}

/** @throws ApiError `invalid_input` (field `files`) for more files than an archive can contain. */
export function checkLimits(rows: readonly Pick<FileRow, 'size_bytes'>[]): void {
  if (rows.length > FILES_MAX) throw tooMany('files')
  if (rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0) > BYTES_MAX)
    throw invalidInput('The files are larger than 4 GiB in total. Download them individually', 'files')
}

const tooMany = (field: string) => invalidInput(`An archive can contain at most ${FILES_MAX} files`, field)

/** Uses the original file names, and prepends the version ID to a name that is already used. */
function withNames(rows: readonly FileRow[]): ArchivedFile[] {
  const names = new Set<string>()
  return rows.map(({ filename, version_id, storage_key, size_bytes, sha512, date_published }) => {
    let name = filename
    while (names.has(fileNameKey(name))) name = `${version_id}-${name}`
    names.add(fileNameKey(name))
    return { name, storageKey: storage_key, sizeBytes: size_bytes, sha512, at: date_published }
  })
}
