// Creates an upload, with its first part if the request has one.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { randomBase62 } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { appendToUpload, type UploadPatch } from './append-to-upload.ts'
import { deleteUpload } from './delete-upload.ts'
import { requireSize } from './policy.ts'
import { firstExpiry, getUpload, lockUsage, requireRoomFor, type UploadRow, uploadOwner } from './queries.ts'

/**
 * If the part is refused or cut, no upload remains, because the client does not know its address.
 * @param length null if it is deferred.
 * @throws ApiError 413, `limit_reached`; the errors of the part.
 */
export async function createUpload(
  deps: Deps,
  viewer: Viewer,
  { length, metadata, part }: { length: number | null; metadata: string; part: UploadPatch | undefined },
): Promise<UploadRow> {
  requireSize(length ?? 0)
  const id = randomBase62(22)
  await transaction(deps, async (tx) => {
    requireRoomFor(await lockUsage(tx, viewer), { count: 1, bytes: length ?? 0 })
    const expires = firstExpiry(deps.now())
    const { accountId, tokenOwner } = uploadOwner(viewer)
    await tx
      .insertInto('upload')
      .values({ id, account_id: accountId, token_owner: tokenOwner, length, metadata, expires })
      .execute()
  })
  if (part === undefined) return getUpload(deps, viewer, id)
  try {
    return await appendToUpload(deps, viewer, id, part)
  } catch (error) {
    await deleteUpload(deps, viewer, id).catch(() => undefined)
    throw error
  }
}
