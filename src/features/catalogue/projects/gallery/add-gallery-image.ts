// Adds an image to a project's gallery.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { storeImageFiles, toHostedImage } from '#features/basics/images/hosted-image.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, withClaims } from '#ports/files/claims.ts'
import { editGallery, type GalleryDeps } from './edit-gallery.ts'
import { clearFeatured, insertGalleryItems, type NewGalleryItem } from './queries.ts'
import type { GalleryImageFields } from './requests.ts'

const GALLERY_ITEMS_MAX = 64

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
  const processed = await deps.images.processGalleryImage(await readBytes(), ext, { caller: viewer.caller })
  // Each upload has its own folder, so deleting one image never deletes the files of another.
  const image = toHostedImage(processed, `${projectId}-${newId()}/images`)
  const keys = image.stored.map(({ key }) => key)
  await withClaims(deps, {
    keys,
    store: () => storeImageFiles(deps.files, image.stored),
    commit: () =>
      editGallery(deps, projectId, async (tx) => {
        await insertImage(tx, projectId, { image, fields, created: new Date(deps.now()) })
        await dropClaims(tx, keys)
      }),
  })
}

async function insertImage(tx: Tx, projectId: string, item: NewGalleryItem): Promise<void> {
  const { count } = await tx
    .selectFrom('gallery_item')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  if (count >= GALLERY_ITEMS_MAX) throw invalidInput(`A gallery can contain at most ${GALLERY_ITEMS_MAX} images`)
  if (item.fields.featured === true) await clearFeatured(tx, projectId)
  await insertGalleryItems(tx, projectId, [item]).catch(
    onUnique({ gallery_item_content_key: () => invalidInput('The gallery already contains this image', 'image') }),
  )
}
