// The server side of a content pack: the files of its index that a server needs, and its override folders for servers.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import type { PackIndex } from '#features/catalogue/versions/files/content-pack.ts'
import type { CachedVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { versionVisibleTo } from '#features/catalogue/versions/policy.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { isContainedPath } from '#platform/archives/inspect-archive.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { type Archive, type ArchivedFile, checkLimits } from '../archive/choose-files.ts'
import { README, startHint } from '../archive/server-pack.ts'
import { getPackFile, type Modpack, type ModpackFile, openModpack, targetOfIndex } from './open-modpack.ts'

/** The folders of a pack that a server gets; files of the later one replace those of the earlier one. */
const FOLDERS = ['overrides', 'server-overrides']
/** Limits of the override folders of one pack. An entry is in memory while it is sent. */
const OVERRIDES_MAX = 8192
const ENTRY_BYTES_MAX = 64 * MIB
const OVERRIDES_BYTES_MAX = 1024 * MIB

/**
 * Returns the server side of the primary file of a version. Files that are not in this catalogue are listed in the text.
 * @throws ApiError 404 if the file is not a content pack, or a server needs nothing of it; `invalid_input` beyond the limits.
 */
export async function chooseModpackServer(deps: Deps, version: CachedVersion, caller: string): Promise<Archive> {
  const pack = await getPackFile(deps.db, version.id)
  const { archive, index } = await openModpack(deps, pack, caller)
  const at = new Date(viewOf(version).date_published)
  const overrides = listOverrides(archive, pack, at)
  const needed = index.files.filter(
    ({ path, env }) => env?.server !== 'unsupported' && !overrides.has(fileNameKey(path)),
  )
  const stored = await listStored(
    deps.db,
    needed.map(({ hashes }) => hashes.sha512.toLowerCase()),
  )
  const present = needed.flatMap(({ path, hashes }) => {
    const row = stored.get(hashes.sha512.toLowerCase())
    return row === undefined ? [] : [{ path, row }]
  })
  checkLimits(present.map(({ row }) => row))
  const missing = needed.filter(({ hashes }) => !stored.has(hashes.sha512.toLowerCase()))
  const files = [
    ...present.map(({ path, row }) => {
      const { storage_key: storageKey, size_bytes: sizeBytes, sha512, date_published } = row
      return { name: path, storageKey, sizeBytes, sha512, at: date_published }
    }),
    ...overrides.values(),
  ].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (files.length === 0) throw notFound('file')
  const hasReadme = files.some(({ name }) => fileNameKey(name) === fileNameKey(README))
  const texts = [{ name: hasReadme ? `SERVER-${README}` : README, content: textOf(deps, index, missing) }]
  const versions = new Map([[version.id, { id: version.id, projectId: version.project.id, isRequired: false }]])
  for (const { row } of present)
    if (!versions.has(row.version_id))
      versions.set(row.version_id, { id: row.version_id, projectId: row.project_id, isRequired: true })
  const names = files.map(({ name, sha512, sizeBytes }) => [name, sha512, sizeBytes])
  const etag = `"${createHash('sha1')
    .update(JSON.stringify([names, texts]))
    .digest('base64url')}"`
  return { files, texts, versions: [...versions.values()], etag }
}

/** Returns the override files of the server by their key, and leaves out paths that would leave the folder of the server. */
function listOverrides(
  pack: Modpack['archive'],
  { storage_key, sha512 }: ModpackFile,
  at: Date,
): Map<string, ArchivedFile> {
  const files = new Map<string, ArchivedFile>()
  for (const folder of FOLDERS)
    for (const { name: entry, sizeBytes } of pack.entries) {
      const name = entry.slice(folder.length + 1)
      if (!entry.startsWith(`${folder}/`) || entry.endsWith('/') || !isContainedPath(name)) continue
      if (sizeBytes > ENTRY_BYTES_MAX)
        throw invalidInput(`The pack contains ${name}, which is larger than 64 MiB`, 'id')
      const read = async () => (await pack.readEntry(entry, ENTRY_BYTES_MAX)) ?? Buffer.alloc(0)
      files.set(fileNameKey(name), { name, storageKey: storage_key, sizeBytes, sha512, at, read })
    }
  const bytes = [...files.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (files.size > OVERRIDES_MAX || bytes > OVERRIDES_BYTES_MAX)
    throw invalidInput(`The pack contains more than ${OVERRIDES_MAX} files or 1 GiB. Unpack it yourself`, 'id')
  return files
}

type Stored = {
  version_id: string
  project_id: string
  sha512: string
  storage_key: string
  size_bytes: number
  date_published: Date
}

/** Returns the public files with these hashes, by hash. */
async function listStored(db: Db, hashes: readonly string[]): Promise<Map<string, Stored>> {
  const { rows } = await sql<Stored>`
    select distinct on (file.sha512) version_id, version.project_id, file.sha512, storage_key, size_bytes, date_published
    from file join version on version.id = file.version_id join project on project.id = version.project_id
    where file.sha512 = any(${hashes}::text[]) and ${versionVisibleTo(null)} and ${isNotBlocked()}
    order by file.sha512, date_published, version_id`.execute(db)
  return new Map(rows.map((row) => [row.sha512, row]))
}

/** Returns the text about the start, with the files that the user must download. */
function textOf(deps: Deps, index: PackIndex, missing: PackIndex['files']): string {
  const hint = startHint(deps, targetOfIndex(deps, index))
  if (missing.length === 0) return hint
  const lines = missing.map(({ path, downloads }) => `${path}: ${downloads[0]}`)
  return [hint, 'Also download these files, which are not on this site, into the named paths:', '', ...lines, ''].join(
    '\n',
  )
}
