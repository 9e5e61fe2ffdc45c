// Details of reviewed versions: changelog, dependencies, and manifests that cannot be parsed.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

/** Maximum number of dependencies of a version. A pack can contain thousands. */
const DEPENDENCIES_MAX = 100

export type ReviewedDependency = {
  type: 'required' | 'optional' | 'incompatible' | 'embedded'
  project: { id: string; name: string } | null
  version_number: string | null
  file_name: string | null
  declared_id: string | null
}

export type VersionDetails = {
  changelog: string
  dependencies: ReviewedDependency[]
  /** Number of dependencies that are not in the list. */
  omitted: number
  unreadable: { filename: string; entry: string }[]
}

/** Returns the details of these versions, by version, with one statement. */
export async function listVersionDetails(db: Db, ids: readonly string[]): Promise<Map<string, VersionDetails>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<VersionDetails & { id: string }>`select version.id, version.changelog,
      (select coalesce(jsonb_agg(one), '[]') from (select dependency.dependency_type as type,
          (select jsonb_build_object('id', project.id, 'name', project.name) from project
            where project.id = coalesce(dependency.project_id, needed.project_id)) as project,
          needed.version_number, dependency.file_name, dependency.declared_id
        from dependency left join version needed on needed.id = dependency.version_id
        where dependency.dependent_id = version.id order by dependency.id limit ${DEPENDENCIES_MAX}) one) as dependencies,
      greatest(0, (select count(*) from dependency where dependent_id = version.id) - ${DEPENDENCIES_MAX}) as omitted,
      (select coalesce(jsonb_agg(jsonb_build_object('filename', file.filename, 'entry', file_manifest.entry)
          order by file.filename, file_manifest.entry), '[]')
        from file join file_manifest on file_manifest.file_id = file.id
        where file.version_id = version.id and file_manifest.content @> '{"isUnreadable": true}') as unreadable
    from version where version.id = any(${[...ids]}::text[])`.execute(db)
  return new Map(rows.map(({ id, ...details }) => [id, details]))
}
