// The placeholder account takes over the projects and texts of deleted users. No one can sign in to it, because it has
// no email address and no password. Depot creates it when it first needs it.
import type { Db } from '#platform/db/db.ts'

/** The database rejects both values for any other account (`account_placeholder_check`). */
export const PLACEHOLDER_ID = 'deleted0'
export const PLACEHOLDER_USERNAME = 'deleted-user'

export function isPlaceholder({ id }: { id: string }): boolean {
  return id === PLACEHOLDER_ID
}

/** Returns whether a username is the name or the ID of the placeholder, ignoring case. */
export function isReservedUsername(username: string): boolean {
  const folded = username.toLowerCase()
  return folded === PLACEHOLDER_USERNAME || folded === PLACEHOLDER_ID
}

/** Creates the placeholder account if it does not exist. Safe to call concurrently. */
export async function ensurePlaceholder(db: Db): Promise<void> {
  await db
    .insertInto('account')
    .values({ id: PLACEHOLDER_ID, username: PLACEHOLDER_USERNAME, allow_friend_requests: false })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}
