// Reads what answers say about chosen versions.
import { sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Db } from '#platform/db/db.ts'

export type ChosenFileRow = {
  id: string
  project_id: string
  environment: unknown
  filename: string | null
  size_bytes: number
  sha1: string
  sha512: string
}

/** The rows of one statement are read without a turn for other work. */
const FILES_PER_STATEMENT = 1000

/** Returns the versions with the file to install, by version ID. `filename` is null for a version without files. */
export async function listChosenFiles(db: Db, versionIds: readonly string[]): Promise<Map<string, ChosenFileRow>> {
  const byId = new Map<string, ChosenFileRow>()
  for (let from = 0; from < versionIds.length; from += FILES_PER_STATEMENT) {
    for (const row of await readFiles(db, versionIds.slice(from, from + FILES_PER_STATEMENT))) byId.set(row.id, row)
  }
  return byId
}

async function readFiles(db: Db, versionIds: readonly string[]): Promise<ChosenFileRow[]> {
  const { rows } = await sql<ChosenFileRow>`
    select version.id, version.project_id, version.fields -> 'environment' as environment,
      first.filename, first.size_bytes, first.sha1, first.sha512
    from version left join lateral (
      select filename, size_bytes, sha1, sha512 from file
      where file.version_id = version.id order by is_primary desc, filename limit 1) first on true
    where version.id = any(${[...versionIds]}::text[])`.execute(db)
  return rows
}

/** Returns which of these projects are public. */
export async function listPublicProjects(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`select project.id from project
    where project.id = any(${[...ids]}::text[]) and ${visibleTo(null)}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Returns the names of external dependencies of these versions whose ID a file of one of the versions declares. Publishers
 * named a file because no project had the ID at that time.
 */
export async function listContainedExternals(db: Db, versionIds: readonly string[]): Promise<Set<string>> {
  const ids = sql`${[...versionIds]}::text[]`
  const { rows } = await sql<{ file_name: string }>`
    with declared as materialized (select distinct manifest.declared_id as id from file
      join file_manifest manifest on manifest.file_id = file.id
      where file.version_id = any(${ids}) and manifest.declared_id is not null)
    select distinct dependency.file_name from dependency
    join declared on declared.id in (dependency.declared_id, dependency.file_name)
    where dependency.dependent_id = any(${ids}) and dependency.project_id is null and dependency.file_name is not null`.execute(
    db,
  )
  return new Set(rows.map(({ file_name }) => file_name))
}
