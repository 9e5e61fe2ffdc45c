// Which files an archive holds: those of a version or of a collection's projects, with what they require.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { listRequired } from '#features/catalogue/versions/dependencies/required-versions.ts'
import type { CachedVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionFilter } from '#features/catalogue/versions/lookup/version-filter.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

const FILES_MAX = 512
const BYTES_MAX = 4 * 1024 ** 3

export type ArchivedFile = {
  /** Its name in the archive, unlike every other one there in any case of letters. */
  name: string
  storageKey: string
  sizeBytes: number
  sha512: string
  /** When its version was published. */
  at: Date
}

export type Archive = {
  files: ArchivedFile[]
  /** The versions that the files belong to; `isRequired` for those that another one brought. */
  versions: { id: string; projectId: string; isRequired: boolean }[]
  /** The same for the same content under the same names. */
  etag: string
}

export type ArchiveWish = {
  versions: readonly CachedVersion[]
  /** Names of files of these versions: a list, or the primary one of each. */
  files: readonly string[] | 'all' | 'primary'
  /** Whether the primary files of what they require come with them, and which versions do. */
  requires: { filter: VersionFilter } | undefined
}

/**
 * @throws ApiError `invalid_input` naming `files` for a name that no version has, or for more than the limits allow;
 * 404 when there is no file at all.
 */
export async function chooseFiles(
  deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>,
  viewer: Viewer | null,
  { versions, files, requires }: ArchiveWish,
): Promise<Archive> {
  const required = requires === undefined ? [] : await listAllRequired(deps, viewer, versions, requires.filter)
  const all = [...versions, ...required]
  const rows = await listFileRows(
    deps.db,
    all.map(({ id }) => id),
  )
  const chosen = versions.flatMap(({ id }) => wanted(rows.get(id) ?? [], files))
  if (Array.isArray(files)) requireNames(files, chosen)
  chosen.push(...required.flatMap(({ id }) => wanted(rows.get(id) ?? [], 'primary')))
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
 * Versions of what these require, and of what that requires in turn, each project once.
 * @throws ApiError `invalid_input` for more of them than an archive may hold.
 */
export async function listAllRequired(
  deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>,
  viewer: Viewer | null,
  roots: readonly CachedVersion[],
  filter: VersionFilter,
): Promise<CachedVersion[]> {
  const projects = new Set(roots.map(({ project }) => project.id))
  const found: CachedVersion[] = []
  let level = roots
  while (level.length > 0) {
    const next = await listRequired(deps, viewer, level.map(viewOf), filter)
    level = next.flatMap(({ project, version }) => (projects.has(project.id) ? [] : [version]))
    for (const version of level) projects.add(version.project.id)
    found.push(...level)
    if (projects.size > FILES_MAX) throw tooMany('dependencies')
  }
  return found
}

const viewOf = ({ bytes }: CachedVersion): VersionView => JSON.parse(bytes.toString())

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

/** Files by their version, the primary one first. One statement. */
async function listFileRows(db: Db, versionIds: readonly string[]): Promise<Map<string, FileRow[]>> {
  const rows = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(['version_id', 'project_id', 'filename', 'is_primary', 'size_bytes', 'sha512', 'storage_key'])
    .select('date_published')
    .where(sql<boolean>`version_id = any(${[...versionIds]}::text[])`)
    .orderBy('is_primary', 'desc')
    .orderBy('file.id')
    .execute()
  return Map.groupBy(rows, ({ version_id }) => version_id)
}

/** Of the files of one version those that are wanted. */
function wanted(rows: FileRow[], files: ArchiveWish['files']): FileRow[] {
  if (files === 'all') return rows
  return files === 'primary' ? rows.slice(0, 1) : rows.filter(({ filename }) => files.includes(filename))
}

function requireNames(names: readonly string[], found: readonly FileRow[]): void {
  const missing = names.find((name) => !found.some(({ filename }) => filename === name))
  if (missing !== undefined) throw invalidInput(`The version has no file ${JSON.stringify(missing)}`, 'files')
}

function checkLimits(rows: readonly FileRow[]): void {
  if (rows.length > FILES_MAX) throw tooMany('files')
  if (rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0) > BYTES_MAX)
    throw invalidInput('The files have more than 4 GiB together; download them one by one', 'files')
}

const tooMany = (field: string) => invalidInput(`An archive holds at most ${FILES_MAX} files`, field)

/** Names as in the versions; where two are the same, the later one has the ID of its version before it. */
function withNames(rows: readonly FileRow[]): ArchivedFile[] {
  const taken = new Set<string>()
  return rows.map(({ filename, version_id, storage_key, size_bytes, sha512, date_published }) => {
    let name = filename
    while (taken.has(name.toLowerCase())) name = `${version_id}-${name}`
    taken.add(name.toLowerCase())
    return { name, storageKey: storage_key, sizeBytes: size_bytes, sha512, at: date_published }
  })
}
