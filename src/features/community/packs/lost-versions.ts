// Saved packs whose newest save contains versions that are deleted or hidden, or that would be.
import { sql } from 'kysely'
import { versionVisibleTo } from '#features/catalogue/versions/policy.ts'
import type { Db } from '#platform/db/db.ts'

/** Maximum number of packs that are counted, because each count reads the newest save of a pack. */
const COUNTED_MAX = 1000

/**
 * Counts the saved packs that could no longer be installed without the version, or without every version of the project:
 * packs with the project itself and packs with a project that depends on it directly.
 * @param lost `versionId` null: every version of the project
 */
export async function countPacksWith(
  db: Db,
  { projectId, versionId }: { projectId: string; versionId: string | null },
): Promise<number> {
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

/** Returns the packs of an account that nobody can install, because a version of the newest save is not public. */
export async function listBrokenPacks(db: Db, accountId: string): Promise<{ name: string; slug: string }[]> {
  const { rows } = await sql<{ name: string; slug: string }>`
    select pack.name, pack.slug from pack join lateral (select lock_id from pack_save
        where pack_save.pack_id = pack.id order by number desc limit 1) newest on true
      join version_lock lock on lock.id = newest.lock_id
    where pack.account_id = ${accountId} and cardinality(lock.version_ids) > (
      select count(*) from version join project on project.id = version.project_id
      where version.id = any(lock.version_ids) and ${versionVisibleTo(null)})
    order by pack.created desc, pack.id`.execute(db)
  return rows
}
