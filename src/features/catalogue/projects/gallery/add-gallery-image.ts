// Adds an image to a project's gallery.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { toHostedImage, withStoredImages } from '#features/basics/images/hosted-image.ts'
import { newId } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { editGallery, type GalleryDeps } from './edit-gallery.ts'
import { clearFeatured, insertGalleryItems, type NewGalleryItem, onDuplicateImage, requireRoom } from './queries.ts'
import type { GalleryImageFields } from './requests.ts'

export type NewGalleryImage = {
  projectId: string
  membership: Membership
  /** Reads the image; called only if the viewer may add it. */
  readBytes: () => Promise<Buffer>
  ext: string
  fields: GalleryImageFields
}

/** @throws ApiError 403 without EDIT_DETAILS, `invalid_input` for an invalid image, a duplicate or a full gallery. */
export async function addGalleryImage(
  deps: GalleryDeps & Pick<Deps, 'images' | 'files' | 'log'>,
  viewer: Viewer,
  { projectId, membership, readBytes, ext, fields }: NewGalleryImage,
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  const processed = await deps.images.processPicture(await readBytes(), ext, { caller: viewer.caller })
  // Each upload has its own folder, so deleting one image never deletes the files of another.
  const image = toHostedImage(processed, `${projectId}-${newId()}/images`)
  await withStoredImages(deps, { images: image.stored }, (keys) =>
    editGallery(deps, viewer, {
      projectId,
      edit: async (tx) => {
        await insertImage(tx, projectId, { image, fields, created: new Date(deps.now()) })
        await dropClaims(tx, keys)
      },
    }),
  )
}

async function insertImage(tx: Tx, projectId: string, item: NewGalleryItem): Promise<void> {
  await requireRoom(tx, projectId)
  if (item.fields.featured === true) await clearFeatured(tx, projectId)
  await insertGalleryItems(tx, projectId, [item]).catch(onDuplicateImage)
}
