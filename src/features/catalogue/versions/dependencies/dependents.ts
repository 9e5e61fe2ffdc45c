// Finds the dependents of a project: the searchable projects with a listed version that depends on it.
import { sql } from 'kysely'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Db } from '#platform/db/db.ts'

type Slice = {
  limit: number
  offset: number
  /** Only dependents of which a version with one of these loaders depends on the project. Default: all */
  loaders?: readonly string[]
}

/** Returns one page of the dependents, most downloaded first, and their total number. */
export async function listDependents(
  reader: ProjectReader,
  projectId: string,
  slice: Slice,
): Promise<{ projects: CachedProject[]; total: number }> {
  // Two statements: a page after the end has no row that could contain the total.
  const total = await countDependents(reader.db, projectId)
  return { projects: await listDependentSlice(reader, projectId, slice), total }
}

/** Returns one page of the dependents, most downloaded first. */
export async function listDependentSlice(
  reader: ProjectReader,
  projectId: string,
  { limit, offset, loaders }: Slice,
): Promise<CachedProject[]> {
  const { rows } = await sql<{ id: string }>`select project.id ${dependentsOf(projectId, loaders)}
    order by project.downloads desc, project.id limit ${limit} offset ${offset}`.execute(reader.db)
  // Everyone can see searchable projects, so the viewer does not matter.
  const ids = rows.map(({ id }) => id)
  return listVisibleProjects(reader, null, ids)
}

/**
 * Returns the number of dependents, and their number by the type of the versions that depend on the project. A dependent
 * of several types counts for each.
 * @param typesOfLoaders Pairs of a loader and a type of its projects.
 */
export async function countDependentsByType(
  db: Db,
  projectId: string,
  typesOfLoaders: readonly (readonly [loader: string, type: string])[],
): Promise<{ total: number; byType: Map<string, number> }> {
  const [loaders, types] = [0, 1].map((index) => typesOfLoaders.map((pair) => pair[index] ?? ''))
  const { rows } = await sql<{ type: string | null; is_total: boolean; count: number }>`
    select kind.type, grouping(kind.type) = 1 as is_total, count(distinct project.id)::int as count
    from dependency
    join version on version.id = dependency.dependent_id
    join project on project.id = version.project_id
    left join unnest(${loaders}::text[], ${types}::text[]) as kind (loader, type) on kind.loader = any(version.loaders)
    where dependency.project_id = ${projectId} and project.id <> ${projectId}
      and is_listed(version.status) and is_searchable(project.status)
    group by grouping sets ((), (kind.type))`.execute(db)
  return {
    total: rows.find(({ is_total }) => is_total)?.count ?? 0,
    byType: new Map(rows.flatMap(({ type, count }) => (type === null ? [] : [[type, count] as const]))),
  }
}

/** Returns the number of dependents. */
export async function countDependents(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int as total ${dependentsOf(projectId)}`.execute(db)
  return rows[0]?.total ?? 0
}

function dependentsOf(projectId: string, loaders?: readonly string[]) {
  const isOfType = loaders === undefined ? sql`` : sql` and version.loaders && ${[...loaders]}::text[]`
  return sql`from project where is_searchable(project.status) and project.id <> ${projectId} and project.id in (
    select version.project_id from dependency join version on version.id = dependency.dependent_id
    where dependency.project_id = ${projectId} and is_listed(version.status)${isOfType})`
}
