// The account that stands for deleted ones: it owns what they owned and is the author of what they wrote. It has no
// address and no password, so nobody can sign in to it. It is created when it is first needed.
import type { Db } from '#platform/db/db.ts'

/** The database gives both to nobody else (`account_placeholder_check`). */
export const PLACEHOLDER_ID = 'deleted0'
export const PLACEHOLDER_USERNAME = 'deleted-user'

export function isPlaceholder({ id }: { id: string }): boolean {
  return id === PLACEHOLDER_ID
}

/** Whether a username, case aside, is kept for the placeholder: its name or its ID. */
export function isReservedUsername(username: string): boolean {
  const folded = username.toLowerCase()
  return folded === PLACEHOLDER_USERNAME || folded === PLACEHOLDER_ID
}

/** Idempotent, also in parallel. */
export async function ensurePlaceholder(db: Db): Promise<void> {
  await db
    .insertInto('account')
    .values({ id: PLACEHOLDER_ID, username: PLACEHOLDER_USERNAME, allow_friend_requests: false })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}
