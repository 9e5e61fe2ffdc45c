// Saved packs whose newest save contains versions that are deleted or hidden.
import { sql } from 'kysely'
import { versionVisibleTo } from '#features/catalogue/versions/policy.ts'
import type { Db } from '#platform/db/db.ts'

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
