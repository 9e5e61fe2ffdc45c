// Stores a picture for a text: checked by its content, under its own name, and attached where its place is known.

import { storeImageFiles, toHostedImage } from '#features/basics/images/hosted-image.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { accountDeleted } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import {
  claimImages,
  deleteImage,
  findImageOwner,
  type ImageContext,
  type ImageTarget,
  insertImage,
  lockTarget,
} from './queries.ts'
import type { UploadedImage } from './views.ts'

export const IMAGE_BYTES_MAX = 1024 * 1024

type NewUpload = { context: ImageContext; target: ImageTarget | undefined; bytes: Buffer; ext: string }

/**
 * Stores the picture at its full size, as texts show it. The row comes before the bytes, so that what a killed
 * process leaves is an unused picture, which a job removes.
 * @throws ApiError `invalid_input` for what is no picture, is too large or is not what `ext` says, `limit_reached`, 404
 * when its place is gone.
 */
export async function uploadImage(
  deps: Deps,
  viewer: Viewer,
  { context, target, bytes, ext }: NewUpload,
): Promise<UploadedImage> {
  const limits = { field: 'body', extField: 'ext', maxBytes: IMAGE_BYTES_MAX, caller: viewer.caller }
  const { raw } = await deps.images.processTextImage(bytes, ext, limits)
  const id = newId()
  // A folder of its own: the same bytes sent twice are two pictures, and removing one leaves the other.
  const picture = toHostedImage(deps.config, { raw, copies: [], color: null }, id)
  const [stored] = picture.stored
  if (stored === undefined) throw new Error('unreachable: a picture has its raw form')
  const created = new Date(deps.now())
  const row = { id, context, url: picture.rawUrl, storage_key: stored.key, size_bytes: raw.bytes.length, created }
  await transaction(deps, (tx) => insertImage(tx, viewer, row))
  try {
    await storeImageFiles(deps.files, picture.stored)
    await attach(deps, viewer, { id, target })
  } catch (error) {
    await removeAgain(deps, { id, key: stored.key })
    throw error
  }
  const { url, size_bytes: sizeBytes } = row
  return { id, url, sizeBytes, created, ownerId: viewer.id, context, placeId: target?.id }
}

/**
 * Attaches the picture where its place is known. Its account may have been deleted, and the row with it, while the
 * bytes were being stored: then no job would ever remove the bytes.
 */
async function attach(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { id, target }: { id: string; target: ImageTarget | undefined },
): Promise<void> {
  const isThere = await transaction(deps, async (tx) => {
    if (target === undefined) return (await findImageOwner(tx, id)) === viewer.id
    await lockTarget(tx, target)
    return (await claimImages(tx, viewer, { ids: [id], target })).has(id)
  })
  if (!isThere) throw accountDeleted()
}

/** Leaves the rest to the job when the store or the database does not answer. */
async function removeAgain(
  { db, files, log }: Pick<Deps, 'db' | 'files' | 'log'>,
  { id, key }: { id: string; key: string },
): Promise<void> {
  try {
    await files.remove(key)
    await deleteImage(db, id)
  } catch (cause) {
    log.error({ err: cause }, 'A refused picture could not be removed')
  }
}
