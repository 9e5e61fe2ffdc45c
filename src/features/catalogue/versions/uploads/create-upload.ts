// Creates an upload without content.
import type { Viewer } from '#lib/access/viewer.ts'
import { randomBase62 } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireSize } from './policy.ts'
import { firstExpiry, getUpload, lockUsage, requireRoomFor, type UploadRow } from './queries.ts'

/** @param length null if it is deferred. @throws ApiError 413, `limit_reached`. */
export async function createUpload(
  deps: Deps,
  viewer: Viewer,
  { length, metadata }: { length: number | null; metadata: string },
): Promise<UploadRow> {
  requireSize(length ?? 0)
  const id = randomBase62(22)
  await transaction(deps, async (tx) => {
    requireRoomFor(await lockUsage(tx, viewer), { count: 1, bytes: length ?? 0 })
    const expires = firstExpiry(deps.now())
    await tx.insertInto('upload').values({ id, account_id: viewer.id, length, metadata, expires }).execute()
  })
  return getUpload(deps, viewer, id)
}
