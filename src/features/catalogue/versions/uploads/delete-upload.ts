// Deletes an upload with its parts.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { eraseUploads, lockUpload } from './queries.ts'

/** @throws ApiError 404, 409 while another request writes. */
export async function deleteUpload(deps: Deps, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    await lockUpload(tx, viewer, id, deps.now())
    await eraseUploads(tx, [id])
  })
}
