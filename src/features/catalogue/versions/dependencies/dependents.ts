// Finds the dependents of a project: the searchable projects with a listed version that depends on it.
import { sql } from 'kysely'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Db } from '#platform/db/db.ts'

/** Returns one page of the dependents, most downloaded first, and their total number. */
export async function listDependents(
  reader: ProjectReader,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ projects: CachedProject[]; total: number }> {
  // Two statements: a page after the end has no row that could contain the total.
  const total = await countDependents(reader.db, projectId)
  const { rows } = await sql<{ id: string }>`select project.id ${dependentsOf(projectId)}
    order by project.downloads desc, project.id limit ${limit} offset ${offset}`.execute(reader.db)
  // Everyone can see searchable projects, so the viewer does not matter.
  const ids = rows.map(({ id }) => id)
  const projects = await listVisibleProjects(reader, null, ids)
  return { projects, total }
}

/** Returns the number of dependents. */
export async function countDependents(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int as total ${dependentsOf(projectId)}`.execute(db)
  return rows[0]?.total ?? 0
}

function dependentsOf(projectId: string) {
  return sql`from project where is_searchable(project.status) and project.id <> ${projectId} and project.id in (
    select version.project_id from dependency join version on version.id = dependency.dependent_id
    where dependency.project_id = ${projectId} and is_listed(version.status))`
}
