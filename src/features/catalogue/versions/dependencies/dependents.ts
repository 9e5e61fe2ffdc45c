// Which projects use a project: those with a listed version that depends on it.
import { sql } from 'kysely'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Db } from '#platform/db/db.ts'

/** One page of the projects that stand in lists and depend on this one, most downloaded first, and how many there are. */
export async function listDependents(
  reader: ProjectReader,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ projects: CachedProject[]; total: number }> {
  const { ids, total } = await findDependentIds(reader.db, projectId, { limit, offset })
  // Who asks does not matter: these stand in everybody's lists.
  return { projects: await listVisibleProjects(reader, null, ids), total }
}

/** How many projects that stand in lists depend on this one. */
export async function countDependents(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int as total ${dependentsOf(projectId)}`.execute(db)
  return rows[0]?.total ?? 0
}

/** Two statements: an answer beyond the end has no row that could tell the total. */
async function findDependentIds(
  db: Db,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ ids: string[]; total: number }> {
  const total = await countDependents(db, projectId)
  const page = await sql<{ id: string }>`select project.id ${dependentsOf(projectId)}
    order by project.downloads desc, project.id limit ${limit} offset ${offset}`.execute(db)
  return { ids: page.rows.map(({ id }) => id), total }
}

function dependentsOf(projectId: string) {
  return sql`from project where is_searchable(project.status) and project.id <> ${projectId} and project.id in (
    select version.project_id from dependency join version on version.id = dependency.dependent_id
    where dependency.project_id = ${projectId} and is_listed(version.status))`
}
