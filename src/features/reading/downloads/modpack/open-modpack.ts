// The primary file of a modpack version, opened in the file store, with its index.
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import type { PackTarget } from '#features/catalogue/resolve/answer.ts'
import { sourceOf } from '#features/catalogue/versions/files/archive-entries.ts'
import { type PackIndex, readPackIndex } from '#features/catalogue/versions/files/content-pack.ts'
import { fileContext } from '#features/catalogue/versions/publish/prepare-files.ts'
import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type ModpackFile = { sha512: string; storage_key: string; size_bytes: number; filename: string }
export type Modpack = { archive: Parameters<typeof readPackIndex>[0]; index: PackIndex }

/** Returns the primary file of a version, unless its content is blocked. @throws ApiError 404. */
export async function getPackFile(db: Db, versionId: string): Promise<ModpackFile> {
  const file = await db
    .selectFrom('file')
    .select(['sha512', 'storage_key', 'size_bytes', 'filename'])
    .where('version_id', '=', versionId)
    .where('is_primary', '=', true)
    .where(isNotBlocked())
    .executeTakeFirst()
  if (file === undefined) throw notFound('file')
  return file
}

/** Opens a pack. @throws ApiError 404 if the file is not a content pack, 503 if too many archives are open. */
export async function openModpack(deps: Deps, file: ModpackFile, caller: string): Promise<Modpack> {
  const archive = await deps.archives.reopen(sourceOf(deps.files, file), { caller })
  const { ownOrigins } = fileContext(deps, { columns: { loaders: [] }, fields: {} })
  const options = { rules: deps.fileRules.content_packs, ownOrigins, field: 'id' }
  const index = archive.readable ? await readPackIndex(archive, options) : undefined
  if (!archive.readable || index === undefined) throw notFound('file')
  return { archive, index }
}

/** Returns the name, version, loader and game version of an index. */
export function targetOfIndex({ resolving }: Pick<Deps, 'resolving'>, index: PackIndex): PackTarget {
  const { minecraft, ...loaders } = index.dependencies
  const [key, loaderVersion = null] = Object.entries(loaders)[0] ?? []
  const loader = Object.entries(resolving.pack_loaders).find(([, { mrpack }]) => mrpack === key)?.[0]
  return {
    name: index.name,
    version: index.versionId,
    loader_version: loaderVersion,
    loaders: key === undefined || loader === undefined ? [] : [loader],
    game_versions: minecraft === undefined ? [] : [minecraft],
  }
}
