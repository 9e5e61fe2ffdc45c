// Validates and stores an image for a text, and attaches it if the request names a target.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { imageUrl, storeImageFiles, toHostedImage } from '#features/basics/images/hosted-image.ts'
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
import type { ImageView } from './views.ts'

export const IMAGE_BYTES_MAX = 1024 * 1024

type NewUpload = { context: ImageContext; target: ImageTarget | undefined; bytes: Buffer; ext: string }

/**
 * Stores an image in its full size. Inserts the row before it stores the file, so that a killed process leaves an
 * unused image, which a job deletes.
 * @throws ApiError `invalid_input` if the body is not an image, is too large or does not match `ext`, `limit_reached`,
 * 404 if the target was deleted.
 */
export async function uploadImage(
  deps: Deps,
  viewer: Viewer,
  { context, target, bytes, ext }: NewUpload,
): Promise<ImageView> {
  const limits = { field: 'body', extField: 'ext', maxBytes: IMAGE_BYTES_MAX, caller: viewer.caller }
  const { raw } = await deps.images.processTextImage(bytes, ext, limits)
  const id = newId()
  // Each upload has a separate folder, so that deleting one of two equal images leaves the other.
  const image = toHostedImage({ raw, copies: [], color: null, likeness: null }, id)
  const [stored] = image.stored
  if (stored === undefined) throw new Error('unreachable: an image has at least its raw file')
  const created = new Date(deps.now())
  const row = { id, context, storage_key: stored.key, size_bytes: raw.bytes.length, created }
  await transaction(deps, (tx) => insertImage(tx, viewer, row))
  try {
    await storeImageFiles(deps.files, image.stored)
    await attach(deps, viewer, { id, target })
  } catch (error) {
    await discard(deps, { id, key: stored.key })
    throw error
  }
  const view = {
    id,
    url: imageUrl(deps.config, row.storage_key),
    size: row.size_bytes,
    created: created.toISOString(),
    owner_id: viewer.id,
    context,
  }
  return { ...view, [`${context}_id`]: target?.id ?? null }
}

/**
 * Attaches the image to its target, if any. Throws if the account and its rows were deleted during the upload, because
 * no job would ever delete the file.
 */
async function attach(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { id, target }: { id: string; target: ImageTarget | undefined },
): Promise<void> {
  const exists = await transaction(deps, async (tx) => {
    if (target === undefined) return (await findImageOwner(tx, id)) === viewer.id
    await lockTarget(tx, target)
    return (await claimImages(tx, viewer, { ids: [id], target })).has(id)
  })
  if (!exists) throw accountDeleted()
}

/** Deletes an image that could not be attached. If this fails, the job deletes it. */
async function discard(
  { db, files, log }: Pick<Deps, 'db' | 'files' | 'log'>,
  { id, key }: { id: string; key: string },
): Promise<void> {
  try {
    await files.remove(key)
    await deleteImage(db, id)
  } catch (cause) {
    log.error({ err: cause }, 'Could not delete a rejected image')
  }
}
