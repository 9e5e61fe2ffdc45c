import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { imageUrls } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { editGallery, type GalleryDeps } from './edit-gallery.ts'
import { getPicture } from './queries.ts'

/** @throws ApiError 403, 404 when the project's gallery has no picture at this address. */
export async function removePicture(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, url }: { projectId: string; membership: Membership; url: string },
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  await editGallery(deps, projectId, async (tx) => {
    const item = await getPicture(tx, projectId, url)
    await tx.deleteFrom('gallery_item').where('id', '=', item.id).execute()
    await removeImages(tx, deps.config, imageUrls(item))
  })
}
