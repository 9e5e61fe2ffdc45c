// The secret address of a feed with the releases of the projects that a user follows.

import { suspendedAt } from '#features/people/users/queries.ts'
import { hashToken, newFeedSecret } from '#lib/access/tokens.ts'
import { accountDeleted } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'

/** Returns a new secret. The previous one stops working. @throws ApiError 401 if the account was deleted. */
export async function renewFollowFeed(db: Db, accountId: string): Promise<string> {
  const { secret, hash } = newFeedSecret()
  try {
    await db
      .insertInto('follow_feed')
      .values({ account_id: accountId, secret_hash: hash })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ secret_hash: hash, created: new Date() }))
      .execute()
  } catch (error) {
    throw isForeignKeyViolation(error) ? accountDeleted() : error
  }
  return secret
}

export async function deleteFollowFeed(db: Db, accountId: string): Promise<void> {
  await db.deleteFrom('follow_feed').where('account_id', '=', accountId).execute()
}

/** Whether the user has an address. Nobody can read it again. */
export async function hasFollowFeed(db: Db, accountId: string): Promise<boolean> {
  const row = await db
    .selectFrom('follow_feed')
    .select('created')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Returns the ID and username of the account with this secret; undefined if it has none, if it is suspended, or if it is
 * being deleted.
 */
export async function findFollowFeedOwner(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  secret: string,
): Promise<{ id: string; username: string } | undefined> {
  return db
    .selectFrom('follow_feed')
    .innerJoin('account', 'account.id', 'follow_feed.account_id')
    .select(['account.id', 'account.username'])
    .where('follow_feed.secret_hash', '=', hashToken(secret))
    .where('account.deletion_due', 'is', null)
    .where((eb) => eb.not(suspendedAt(new Date(now()))))
    .executeTakeFirst()
}
