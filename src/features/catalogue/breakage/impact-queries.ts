// The consequences if a version or a project could no longer be chosen: the newest versions of direct dependents that
// would have no version left, and packs that contain it.
import { type RawBuilder, sql } from 'kysely'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import type { Db } from '#platform/db/db.ts'

/** `withdraw` and `remove`: the version, or every version of the project, is lost. `replace`: only the version is left. */
export type ImpactAction = 'withdraw' | 'remove' | 'replace'

export type ImpactRow = {
  project_id: string
  version_id: string
  /** Whether the dependency names the version, so that a member has to choose another. */
  is_named: boolean
  is_pack: boolean
}

/** Maximum number of listed dependents. */
export const IMPACT_MAX = 1000

/** Maximum number of packs that are counted, because each count reads the newest save of a pack. */
const COUNTED_MAX = 1000

/** The first version in the list of each searchable project that depends on the project, except the project itself. */
export function newestOfDependents(projectId: string, dependents: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select newest.* from (${dependents}) dependent
    cross join lateral (
      select version.id, version.project_id, version.loaders, version.fields from version
      where version.project_id = dependent.id and is_listed(version.status) and version.withdrawn_at is null
      order by ${LIST_ORDER} limit 1) newest
    where newest.project_id <> ${projectId}`
}

/** Returns the number of public projects of which a listed version depends on the project. */
export async function countDirectDependents(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct version.project_id)::int as count from dependency
    join version on version.id = dependency.dependent_id and is_listed(version.status)
    join project on project.id = version.project_id and is_searchable(project.status)
    where dependency.project_id = ${projectId} and version.project_id <> ${projectId}`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Returns the dependents that lose a version, most downloaded first, and one more than the maximum.
 * @param versionId null: every version of the project is lost
 */
export async function listImpact(
  db: Db,
  { projectId, versionId, action }: { projectId: string; versionId: string | null; action: ImpactAction },
): Promise<ImpactRow[]> {
  const dependents = sql`select distinct version.project_id as id from dependency
    join version on version.id = dependency.dependent_id and is_listed(version.status)
    join project on project.id = version.project_id and is_searchable(project.status)
    where dependency.project_id = ${projectId}`
  const loses =
    versionId === null
      ? sql`true`
      : action === 'replace'
        ? sql`(dependency.version_id <> lost.id or dependency.version_id is null and not (
            (lost.loaders && loaders_of(newest.loaders, newest.fields) or not exists (
              select from version other where other.project_id = ${projectId} and is_listed(other.status)
                and other.loaders && loaders_of(newest.loaders, newest.fields)))
            and share_game_version(lost.fields, newest.fields)))`
        : sql`(dependency.version_id = lost.id or dependency.version_id is null
            and lacks_version(${projectId}, lost.id, lost.loaders, lost.fields, newest.loaders, newest.fields))`
  const { rows } = await sql<ImpactRow>`
    with newest as materialized (${newestOfDependents(projectId, dependents)}),
    lost as (select id, loaders, fields from version where id = ${versionId})
    select newest.project_id, newest.id as version_id, bool_or(dependency.version_id is not null) as is_named,
      'mrpack' = any(newest.loaders) as is_pack
    from newest join dependency on dependency.dependent_id = newest.id and dependency.project_id = ${projectId}
    join project on project.id = newest.project_id left join lost on true
    where (dependency.dependency_type = 'required'
        or dependency.dependency_type = 'embedded' and 'mrpack' = any(newest.loaders))
      and ${loses}
    group by newest.project_id, newest.id, newest.loaders, project.downloads
    order by project.downloads desc, newest.project_id limit ${IMPACT_MAX + 1}`.execute(db)
  return rows
}

/**
 * Counts the saved packs that could no longer be installed without the version, or without every version of the project:
 * packs with the project itself and packs with a project that depends on it directly. The files of a withdrawn version
 * stay public, so only a removal counts.
 * @param lost `versionId` null: every version of the project
 */
export async function countPacksWith(
  db: Db,
  { projectId, versionId, action }: { projectId: string; versionId: string | null; action: ImpactAction },
): Promise<number> {
  if (action !== 'remove') return 0
  const lost =
    versionId === null
      ? sql`lock.version_ids && (select array_agg(id) from version where project_id = ${projectId})`
      : sql`${versionId} = any(lock.version_ids)`
  const { rows } = await sql<{ count: number }>`
    with holders as (select distinct entry.pack_id from pack_project entry where entry.project_id = ${projectId}
        or entry.project_id in (select version.project_id from dependency
          join version on version.id = dependency.dependent_id where dependency.project_id = ${projectId})
      limit ${COUNTED_MAX})
    select count(*)::int as count from holders join lateral (select lock_id from pack_save
        where pack_save.pack_id = holders.pack_id order by number desc limit 1) newest on true
      join version_lock lock on lock.id = newest.lock_id
    where ${lost}`.execute(db)
  return rows[0]?.count ?? 0
}
