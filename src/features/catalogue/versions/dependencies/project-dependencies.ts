// What a project depends on through its versions, as far as the viewer may see either end.
import { sql } from 'kysely'
import { findMembership } from '#features/basics/access/memberships.ts'
import { PUBLIC_VERSION_STATUSES, VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { CachedProject, ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVisibleByIds } from '#features/catalogue/projects/lookup/visible-lists.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import {
  type CachedVersion,
  filterVisibleVersions,
  listCachedVersions,
  type VersionReader,
} from '../lookup/version-cache.ts'
import { seesHiddenVersions } from '../policy.ts'

/** The newest so many of each kind; no real project comes near. */
const LISTED_MAX = 10_000
const BATCH_IDS = 5_000

/**
 * Projects and versions that versions of this project name, each once, newest first. Hidden ones are left out, and so
 * is what only versions name that the viewer may not see. At most seven statements for the first 5000 of each.
 */
export async function listDependencies(
  reader: ProjectReader & VersionReader,
  viewer: Viewer | null,
  projectId: string,
): Promise<{ projects: CachedProject[]; versions: CachedVersion[] }> {
  const membership = viewer === null ? {} : await findMembership(reader.db, viewer.id, { id: projectId })
  const seesAll = seesHiddenVersions(viewer, membership)
  const named = await listNamed(reader.db, projectId, seesAll ? VERSION_STATUSES : PUBLIC_VERSION_STATUSES)
  const projects = await listVisibleByIds(reader, viewer, named.projects)
  const versions: CachedVersion[] = []
  for (let from = 0; from < named.versions.length; from += BATCH_IDS) {
    const batch = await listCachedVersions(reader, named.versions.slice(from, from + BATCH_IDS))
    versions.push(...(await filterVisibleVersions(reader.db, viewer, batch)))
  }
  return { projects, versions }
}

/** IDs of what the versions with these statuses name, newest first. Two statements. */
async function listNamed(
  db: Db,
  projectId: string,
  statuses: readonly string[],
): Promise<{ projects: string[]; versions: string[] }> {
  // Every dependency on a version also holds the version's project.
  const names = sql`from version dependent join dependency on dependency.dependent_id = dependent.id
    where dependent.project_id = ${projectId} and dependent.status = any(${[...statuses]}::text[])`
  const projects = await sql<{ id: string }>`select project.id from project
    where project.id in (select distinct dependency.project_id ${names})
    order by project.published desc, project.id limit ${LISTED_MAX}`.execute(db)
  const versions = await sql<{ id: string }>`select version.id from version
    where version.id in (select distinct dependency.version_id ${names})
    order by version.date_published desc, version.id limit ${LISTED_MAX}`.execute(db)
  return { projects: projects.rows.map(({ id }) => id), versions: versions.rows.map(({ id }) => id) }
}
