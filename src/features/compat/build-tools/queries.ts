// Queries for the Maven coordinates of versions.

import { sql } from 'kysely'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import { isListedAndPasses } from '#features/catalogue/versions/lookup/version-filter.ts'
import type { Db } from '#platform/db/db.ts'

export type VersionCoordinates = {
  id: string
  version_number: string
  version_type: string
  loaders: string[]
  game_versions: string[]
  /** Whether the version can only be requested by its coordinate. */
  is_withdrawn: boolean
  /** Numbers that the version got before every other version of the project. */
  coordinates: string[]
}

/** Far more versions than any real project has. */
const VERSIONS_MAX = 20_000

/**
 * Returns the listed and archived versions of a project in list order, the best version first. With a coordinate, only
 * versions that it might name.
 */
export async function listCoordinates(
  db: Db,
  projectId: string,
  coordinate: string | null = null,
): Promise<VersionCoordinates[]> {
  const rows = await db
    .selectFrom('version')
    .select(['version.id', 'version.version_number', 'version.version_type', 'version.loaders', 'version.fields'])
    .select(sql<boolean>`version.withdrawn_at is not null`.as('is_withdrawn'))
    .select(
      sql<string[]>`array(select claim.version_number from version_coordinate claim
        where claim.project_id = version.project_id and claim.version_id = version.id)`.as('coordinates'),
    )
    .where('version.project_id', '=', projectId)
    .where(isListedAndPasses({}))
    .where(sql<boolean>`(${coordinate}::text is null or version.id = ${coordinate}
      or version.id = (select claim.version_id from version_coordinate claim
        where claim.project_id = ${projectId} and claim.version_number = ${coordinate})
      or starts_with(${coordinate} || '-', version.version_number || '-'))`)
    .orderBy(LIST_ORDER)
    .limit(VERSIONS_MAX)
    .execute()
  return rows.map(({ fields, ...row }) => {
    const gameVersions = (fields as Record<string, unknown>)['game_versions']
    return { ...row, game_versions: Array.isArray(gameVersions) ? gameVersions.map(String) : [] }
  })
}

/** Returns the file name for each `-classifier.ext` of a version. The file might be deleted. */
export async function listEndings(db: Db, versionId: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ ending: string; filename: string }>`
    select ending, filename from maven_files(array[${versionId}])`.execute(db)
  return new Map(rows.map(({ ending, filename }) => [ending, filename]))
}
