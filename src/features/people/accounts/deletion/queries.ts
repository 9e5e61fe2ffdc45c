// Reads of accounts whose deletion is pending.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type PendingDeletion = {
  id: string
  username: string
  role: string
  requested: Date
  due: Date
  by_owner: boolean
}

/** Who asked for the deletion of an account, and what it gave away (a `HandedOver`). @throws where none is pending. */
export function getDeletion(db: Db, accountId: string): Promise<{ by_owner: boolean; handed_over: unknown }> {
  return db
    .selectFrom('account_deletion')
    .select(['by_owner', 'handed_over'])
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
}

/** Those that end first come first. */
export async function listPendingDeletions(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<PendingDeletion[]> {
  const { rows } = await sql<PendingDeletion>`
    select id, username, role, requested, deletion_due as due, by_owner
    from account join account_deletion on account_id = id
    where deletion_due is not null order by deletion_due, id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** IDs of accounts that are to be deleted by now, the longest due first. */
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
