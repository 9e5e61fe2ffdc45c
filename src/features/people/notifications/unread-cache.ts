// Caches the number of unread notifications, which each page of a signed-in user shows. A command that inserts, reads or deletes
// notifications must add the IDs of their accounts to the change set, under `unread`.
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { countUnread } from './queries.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    unread: true
  }
}

type Unread = { accountId: string; count: number }

const UNREAD = defineCache({
  name: 'unread',
  contains: 'Number of unread notifications of an account',
  idOf: ({ accountId }: Unread) => accountId,
  sizeOf: () => 60,
})

/** Returns the number of unread notifications of an account, at most 100. */
export async function getUnreadCount(
  { db, cache }: { db: Db; cache: EntityCache },
  accountId: string,
): Promise<number> {
  const unread = await cache
    .kind(UNREAD)
    .get(accountId, async ([id = '']) => [{ accountId: id, count: await countUnread(db, id) }])
  return unread?.count ?? 0
}
