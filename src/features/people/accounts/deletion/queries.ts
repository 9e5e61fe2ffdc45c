// Queries of pending deletions.
import { sql } from 'kysely'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Db, Page } from '#platform/db/db.ts'

export type PendingDeletion = Pick<AccountRow, 'id' | 'username' | 'role'> & {
  requested: Date
  due: Date
  by_owner: boolean
}

/** Returns who requested a pending deletion, and the belongings (a `Belongings`). @throws Error if none is pending. */
export function getDeletion(db: Db, accountId: string): Promise<{ by_owner: boolean; handed_over: unknown }> {
  return db
    .selectFrom('account_deletion')
    .select(['by_owner', 'handed_over'])
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
}

/** Returns pending deletions, earliest due date first. */
export async function listPendingDeletions(db: Db, { limit, offset }: Page): Promise<PendingDeletion[]> {
  const { rows } = await sql<PendingDeletion>`
    select id, username, role, requested, deletion_due as due, by_owner
    from account join account_deletion on account_id = id
    where deletion_due is not null order by deletion_due, id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Returns the IDs of accounts whose deletion is due, earliest due date first. */
export async function listDueDeletions(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('account')
    .select('id')
    .where('deletion_due', '<=', now)
    .orderBy('deletion_due')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
