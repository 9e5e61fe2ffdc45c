// Finds projects that are related to a project: projects that depend on the same projects, or have the same followers.

import { sql } from 'kysely'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { MIB } from '#lib/text/sizes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Db } from '#platform/db/db.ts'
import { isSearchableStatus } from '#taxonomy/project-status.ts'

const RELATED = defineCache<RememberDefinition<readonly string[]>>({
  name: 'related-projects',
  contains: 'IDs of the projects that are related to a project',
  maxAgeMs: HOUR_MS,
  maxBytes: 4 * MIB,
  isStaleAllowed: true,
  sizeOf: (ids) => 40 * ids.length,
})

/** Maximum number of related projects. */
const RELATED_MAX = 6
/** Bounds of the statement: compared dependencies, their dependents, followers, and what each follower follows. */
const DEPENDENCIES_MAX = 20
const DEPENDENTS_MAX = 2000
const FOLLOWERS_MAX = 500
const FOLLOWS_MAX = 100
/** Fewer common followers would reveal whom a user follows. */
const COMMON_FOLLOWERS_MIN = 3

/**
 * Returns the projects that are most closely related to a project, at most an hour old. Everyone can see searchable
 * projects, so the viewer does not matter.
 */
export async function listRelated(reader: ProjectReader & { dbRead: Db }, projectId: string): Promise<CachedProject[]> {
  const remembered = reader.cache.remember(RELATED)
  const ids = await remembered.get(projectId, () => findRelated(reader.dbRead, projectId))
  const projects = await listVisibleProjects(reader, null, ids)
  return projects.filter(({ status }) => isSearchableStatus(status))
}

/** A dependency that few projects share says more than one that most projects have. */
async function findRelated(db: Db, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with needed as (
      select distinct dependency.project_id as id from dependency join version on version.id = dependency.dependent_id
      where version.project_id = ${projectId} and is_listed(version.status) and dependency.project_id is not null
      limit ${DEPENDENCIES_MAX}
    ), sharing as (
      select version.project_id as id, needed.id as shared from needed cross join lateral (
        select dependent_id from dependency where dependency.project_id = needed.id limit ${DEPENDENTS_MAX}) as dependent
      join version on version.id = dependent.dependent_id and is_listed(version.status)
      group by 1, 2
    ), weights as (select shared, 1 / ln(1 + count(*)) as weight from sharing group by shared
    ), followed as (
      select other.project_id as id, ln(count(*)) as weight
      from (select account_id from follow where project_id = ${projectId} limit ${FOLLOWERS_MAX}) as follower
      cross join lateral (
        select project_id from follow where follow.account_id = follower.account_id limit ${FOLLOWS_MAX}) as other
      group by 1 having count(*) >= ${COMMON_FOLLOWERS_MIN}
    ), found as (
      select id, sum(weight) as weight from (
        select sharing.id, weights.weight from sharing join weights using (shared)
        union all select id, weight from followed) as both_kinds
      group by id
    )
    select project.id from found join project using (id)
    where project.id <> ${projectId} and is_searchable(project.status) and project.id not in (select id from needed)
    order by found.weight desc, project.downloads desc, project.id limit ${RELATED_MAX}`.execute(db)
  return rows.map(({ id }) => id)
}
