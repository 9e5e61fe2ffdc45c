import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteExternalImages, imageIdOf, insertBlocks } from './queries.ts'
import { parseImageUrl } from './requests.ts'

/**
 * Blocks an image of another host: deletes the cached copy, and Depot no longer fetches the URL. Does nothing if it is
 * blocked.
 * @throws ApiError `validation_error` unless the URL is an https URL.
 */
export async function blockExternalImage(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  text: string,
): Promise<void> {
  const url = parseImageUrl(text)
  const id = imageIdOf(url)
  await transaction(deps, async (tx) => {
    const row = { id, url, created: new Date(deps.now()), blocked_by_id: viewer.id }
    if ((await insertBlocks(tx, [row])).length === 0) return
    await deleteExternalImages(tx, [id])
    await recordAudit(tx, { action: 'external_image.blocked', actor: actorOf(viewer), details: { url } })
  })
}
