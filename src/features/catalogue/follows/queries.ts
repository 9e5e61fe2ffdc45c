// Who follows which project. The counter of a project moves only with a row that was inserted or deleted.
import { sql } from 'kysely'
import { accountDeleted, notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'

/**
 * Returns whether the row is new; the primary key settles races.
 * @throws ApiError 404 or 401 when the project or the account is being deleted at this moment.
 */
export async function insertFollow(tx: Tx, accountId: string, projectId: string): Promise<boolean> {
  try {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('follow')
      .values({ account_id: accountId, project_id: projectId })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  } catch (error) {
    if (isForeignKeyViolation(error, 'follow_project_id_fkey')) throw notFound('project')
    if (isForeignKeyViolation(error)) throw accountDeleted()
    throw error
  }
}

/** Returns whether there was a row to delete. */
export async function deleteFollow(tx: Tx, accountId: string, projectId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('follow')
    .where('account_id', '=', accountId)
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Moves a project's counter by one, in the transaction of the row that justifies it. */
export async function addToFollowers(tx: Tx, projectId: string, by: 1 | -1): Promise<void> {
  await tx
    .updateTable('project')
    .set((eb) => ({ followers: eb('followers', '+', by) }))
    .where('id', '=', projectId)
    .execute()
}

/** IDs of the projects an account follows, the last followed first. */
export async function listFollowedIds(db: Db, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('follow')
    .select('project_id')
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('project_id')
    .execute()
  return rows.map(({ project_id }) => project_id)
}

/**
 * Notifies the next `limit` followers of a project of a version, in the order of their IDs and in one statement; who was
 * notified already is left out. Returns the last follower it came to, undefined at the end.
 */
export async function notifyFollowers(
  db: Db,
  { projectId, versionId, afterId, limit }: { projectId: string; versionId: string; afterId: string; limit: number },
): Promise<string | undefined> {
  const body = JSON.stringify({ type: 'project_update', project_id: projectId, version_id: versionId })
  const { rows } = await sql<{ last: string | null; seen: number }>`
    with followers as materialized (
      select account_id from follow where project_id = ${projectId} and account_id > ${afterId}
      order by account_id limit ${limit}
    ), notified as (
      insert into notification (id, account_id, body, cause)
      select random_id(), account_id, ${body}::jsonb, ${`version:${versionId}`} from followers
      on conflict (account_id, cause) where cause is not null do nothing
    )
    select max(account_id) as last, count(*) as seen from followers`.execute(db)
  const { last, seen } = rows[0] ?? { last: null, seen: 0 }
  return last === null || seen < limit ? undefined : last
}
