// Statements for proposals: stored manifests, the previous version, and the projects of declared IDs.

import { sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { PreviousVersion } from './propose.ts'

/** Returns the primary file of a version with its manifests. */
export async function findPrimaryManifests(
  db: Db,
  versionId: string,
): Promise<{ filename: string; manifests: Manifest[] } | undefined> {
  const rows = await db
    .selectFrom('file')
    .leftJoin('file_manifest', 'file_manifest.file_id', 'file.id')
    .select(['file.filename', 'file_manifest.content'])
    .where('file.version_id', '=', versionId)
    .where('file.is_primary', '=', true)
    .orderBy('file_manifest.entry')
    .execute()
  const [first] = rows
  if (first === undefined) return undefined
  return { filename: first.filename, manifests: rows.flatMap(({ content }) => (content as Manifest | null) ?? []) }
}

/**
 * Returns the newest published version of a project, other than `exceptId`: the last published one, or that with the highest
 * number in projects that order their versions by number.
 */
export async function findPreviousVersion(
  db: Db,
  projectId: string,
  exceptId: string | undefined,
): Promise<PreviousVersion | undefined> {
  const row = await db
    .selectFrom('version')
    .select(['id', 'name', 'version_number', 'version_type', 'loaders', 'fields'])
    .where('project_id', '=', projectId)
    .where('id', '<>', exceptId ?? '')
    .where('is_new_draft', '=', false)
    .orderBy('number_key', (order) => order.desc().nullsLast())
    .orderBy('date_published', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && { ...row, fields: row.fields as LoaderFieldValues }
}

/** A dependency that a version of the project has. */
export type ChosenDependency = {
  declared_id: string | null
  project_id: string | null
  file_name: string | null
  dependency_type: string
}

/** Returns the newest choice that versions of the project have made for each declared ID. Hidden projects are omitted. */
export async function listRememberedChoices(
  db: Db,
  viewer: Viewer,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<Map<string, ChosenDependency>> {
  const { rows } = await sql<ChosenDependency & { declared_id: string }>`
    select distinct on (dependency.declared_id)
      dependency.declared_id, dependency.project_id, dependency.file_name, dependency.dependency_type
    from version join dependency on dependency.dependent_id = version.id
    left join project on project.id = dependency.project_id
    where version.project_id = ${projectId} and dependency.declared_id = any(${[...ids]}::text[])
      and (dependency.project_id is null or ${visibleTo(viewer)})
    order by dependency.declared_id, version.date_published desc, version.id`.execute(db)
  return new Map(rows.map((row) => [row.declared_id, row]))
}

/** Returns the dependencies of a version, except embedded files. Hidden projects are omitted. */
export async function listChosenDependencies(db: Db, viewer: Viewer, versionId: string): Promise<ChosenDependency[]> {
  const { rows } = await sql<ChosenDependency>`
    select dependency.declared_id, dependency.project_id, dependency.file_name, dependency.dependency_type
    from dependency left join project on project.id = dependency.project_id
    where dependency.dependent_id = ${versionId} and dependency.dependency_type <> 'embedded'
      and (dependency.project_id is null or ${visibleTo(viewer)})
    order by dependency.id limit 256`.execute(db)
  return rows
}

/**
 * Returns the projects whose listed files declare each ID, and the project whose slug is the ID, at most two of each.
 * Only projects that the viewer can see count.
 */
export async function listProjectsOfIds(
  db: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<{ id: string; project_id: string; is_slug: boolean }[]> {
  const { rows } = await sql<{ id: string; project_id: string; is_slug: boolean }>`
    select declared.id, found.project_id, found.is_slug
    from unnest(${[...ids]}::text[]) as declared (id)
    cross join lateral (
      (select distinct version.project_id, false as is_slug
        from file_manifest join file on file.id = file_manifest.file_id join version on version.id = file.version_id
        join project on project.id = version.project_id
        where file_manifest.declared_id = declared.id and is_listed(version.status) and is_searchable(project.status)
        limit 2)
      union all
      (select project.id, true from project where project.slug = declared.id and ${visibleTo(viewer)})
    ) found`.execute(db)
  return rows
}
