// Caches the projects that an account follows. A command that inserts or deletes a row of `follow` must add the ID of the
// account to the change set, under `follows`. The IDs of deleted projects can remain.
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { listFollowedIds } from './queries.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    follows: true
  }
}

type Follows = {
  accountId: string
  /** Most recently followed first. */
  projectIds: readonly string[]
}

const ID_BYTES = 24

const FOLLOWS = defineCache({
  name: 'follows',
  contains: 'IDs of the projects that an account follows',
  idOf: ({ accountId }: Follows) => accountId,
  sizeOf: ({ projectIds }: Follows) => ID_BYTES * projectIds.length,
})

type FollowsReader = { db: Db; cache: EntityCache }

/** Returns the IDs of the projects that an account follows, most recently followed first. */
export async function listCachedFollows({ db, cache }: FollowsReader, accountId: string): Promise<readonly string[]> {
  const follows = await cache
    .kind(FOLLOWS)
    .get(accountId, async ([id = '']) => [{ accountId: id, projectIds: await listFollowedIds(db, id) }])
  return follows?.projectIds ?? []
}
