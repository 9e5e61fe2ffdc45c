// The files of a pack: where each chosen file goes, and on which side it runs.
import { sql } from 'kysely'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import { type Side, sidesOf } from '#ports/search-index/sides.ts'
import type { ResolvingRules } from '#taxonomy/resolving.ts'
import { projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { versionVisibleTo } from '../../versions/policy.ts'
import { filePath } from '../../versions/views.ts'
import type { LockFiles } from './store-lock.ts'

export type PackFile = {
  /** Such as `mods`. */
  folder: string
  filename: string
  projectId: string
  versionId: string
  slug: string
  name: string
  sha1: string
  sha512: string
  sizeBytes: number
  url: string
  client: PackSide
  server: PackSide
}
export type PackSide = Exclude<Side, 'unknown'>

export type PackDeps = { db: Db; taxonomy: Taxonomy; resolving: ResolvingRules; config: Pick<Config, 'files'> }

type Row = {
  id: string
  project_id: string
  slug: string
  name: string
  loaders: string[]
  environment: unknown
  filename: string
  size_bytes: number
  sha1: string
  sha512: string
}

/**
 * Returns the files in the order of their paths. The slug of the project distinguishes two files with one name.
 * @throws ApiError 409 naming versions that are no longer public or whose file was replaced; 400 for a version that is a
 * pack itself.
 */
export async function listPackFiles(
  deps: PackDeps,
  { files, named }: Pick<LockFiles, 'files' | 'named'>,
): Promise<PackFile[]> {
  const rows = await listRows(deps.db, files)
  const present = new Set(rows.map(({ id }) => id))
  const gone = files.map(({ versionId }) => versionId).filter((id) => !present.has(id))
  if (gone.length > 0) {
    throw new ApiError('conflict', 'The pack contains files that are no longer public', {
      details: { versions: gone.slice(0, 100) },
    })
  }
  const taken = new Set<string>()
  const packed = rows.map((row): PackFile => {
    const folder = folderOf(deps, row)
    const keyOf = (name: string) => `${folder}/${fileNameKey(name)}`
    let { filename } = row
    while (taken.has(keyOf(filename))) filename = `${row.slug}-${filename}`
    taken.add(keyOf(filename))
    const { slug, name, sha1, sha512, size_bytes: sizeBytes } = row
    const url = `${deps.config.files.baseUrl}${filePath(row.project_id, row.id, row.filename)}`
    const sides = sidesOfVersion(deps, row, named.has(row.id))
    const { project_id: projectId, id: versionId } = row
    return { folder, filename, projectId, versionId, slug, name, sha1, sha512, sizeBytes, url, ...sides }
  })
  const pathOf = ({ folder, filename }: PackFile) => `${folder}/${filename}`
  return packed.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
}

async function listRows(db: Db, files: LockFiles['files']): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select version.id, version.project_id, project.slug, project.name, version.loaders,
      version.fields -> 'environment' as environment, file.filename, file.size_bytes, file.sha1, file.sha512
    from unnest(${files.map(({ versionId }) => versionId)}::text[], ${files.map(({ sha1 }) => sha1)}::text[])
      as wanted (version_id, sha1)
    join version on version.id = wanted.version_id
    join project on project.id = version.project_id
    join lateral (select filename, size_bytes, sha1, sha512 from file
      where file.version_id = version.id and file.sha1 = wanted.sha1 order by filename limit 1) file on true
    where ${versionVisibleTo(null)}
    order by version.project_id`.execute(db)
  return rows
}

function folderOf({ taxonomy, resolving }: PackDeps, { id, loaders }: Row): string {
  const types = projectTypesOf(taxonomy, loaders)
  const type = Object.keys(resolving.pack_folders).find((name) => types.includes(name))
  const folder = type === undefined ? undefined : resolving.pack_folders[type]
  if (folder === undefined)
    throw invalidInput(`The version ${id} cannot be part of a pack, because of its type (${types.join(', ')})`, 'id')
  return folder
}

/** @param isNamed whether the request named the version: then it is required on each side on which it runs. */
function sidesOfVersion(
  { taxonomy }: PackDeps,
  { loaders, environment }: Row,
  isNamed: boolean,
): { client: PackSide; server: PackSide } {
  const types = projectTypesOf(taxonomy, loaders)
  const sides = sidesOf(types, typeof environment === 'string' ? environment : null)
  // Without a statement of its publisher, a file belongs to both sides.
  const known = (side: Side): PackSide => (side === 'unknown' || (isNamed && side === 'optional') ? 'required' : side)
  return { client: known(sides.client_side), server: known(sides.server_side) }
}

/** Returns the key of the pack's loader in a format, for the first requested loader that has one. */
export function loaderKeyOf(
  { resolving }: Pick<PackDeps, 'resolving'>,
  loaders: readonly string[],
  format: 'mrpack' | 'packwiz',
): string | undefined {
  for (const loader of loaders) {
    const key = resolving.pack_loaders[loader]?.[format]
    if (key !== undefined) return key
  }
  return undefined
}

export const DEFAULT_NAME = 'Pack'
export const DEFAULT_VERSION = '1.0.0'
