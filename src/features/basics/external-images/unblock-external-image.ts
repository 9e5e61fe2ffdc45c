import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteBlock, imageIdOf } from './queries.ts'
import { parseImageUrl } from './requests.ts'

/** Lifts the block of an image. @throws ApiError `validation_error` for an invalid URL, 404 if it is not blocked */
export async function unblockExternalImage(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  text: string,
): Promise<void> {
  const id = imageIdOf(parseImageUrl(text))
  await transaction(deps, async (tx) => {
    const url = await deleteBlock(tx, id)
    if (url === undefined) throw notFound('blocked image')
    await recordAudit(tx, { action: 'external_image.unblocked', actor: actorOf(viewer), details: { url } })
  })
}
