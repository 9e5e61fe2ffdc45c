// Lists the dependencies of a project, if the viewer can see both the dependent version and the dependency.
import { sql } from 'kysely'
import { findMembership } from '#features/basics/access/memberships.ts'
import { PUBLIC_VERSION_STATUSES, VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { type CachedVersion, listVisibleVersions, type VersionReader } from '../lookup/version-cache.ts'
import { seesHiddenVersions } from '../policy.ts'

/** Maximum number of projects, and of versions, newest first. No real project has that many. */
const LISTED_MAX = 10_000

/** Returns the visible projects and versions on which visible versions of this project depend, newest first. */
export async function listDependencies(
  reader: ProjectReader & VersionReader,
  viewer: Viewer | null,
  projectId: string,
): Promise<{ projects: CachedProject[]; versions: CachedVersion[] }> {
  const membership = viewer === null ? {} : await findMembership(reader.db, viewer, { id: projectId })
  const seesAll = seesHiddenVersions(viewer, membership)
  const ids = await listDependencyIds(reader.db, projectId, seesAll ? VERSION_STATUSES : PUBLIC_VERSION_STATUSES)
  const projects = await listVisibleProjects(reader, viewer, ids.projects)
  const versions = await listVisibleVersions(reader, viewer, ids.versions)
  return { projects, versions }
}

/** Returns the IDs of the dependencies of versions with these statuses, newest first. */
async function listDependencyIds(
  db: Db,
  projectId: string,
  statuses: readonly string[],
): Promise<{ projects: string[]; versions: string[] }> {
  // A dependency on a version also contains the ID of the version's project.
  const dependencies = sql`from version dependent join dependency on dependency.dependent_id = dependent.id
    where dependent.project_id = ${projectId} and dependent.status = any(${[...statuses]}::text[])`
  const projects = await sql<{ id: string }>`select project.id from project
    where project.id in (select distinct dependency.project_id ${dependencies})
    order by project.published desc, project.id limit ${LISTED_MAX}`.execute(db)
  const versions = await sql<{ id: string }>`select version.id from version
    where version.id in (select distinct dependency.version_id ${dependencies})
    order by version.date_published desc, version.id limit ${LISTED_MAX}`.execute(db)
  return { projects: projects.rows.map(({ id }) => id), versions: versions.rows.map(({ id }) => id) }
}
