import type { Updateable } from 'kysely'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import type { GalleryItem } from '#platform/db/schema.ts'
import { editGallery, type GalleryDeps } from './edit-gallery.ts'
import { clearFeatured, getPicture } from './queries.ts'
import type { PictureText } from './requests.ts'

const columns = {
  name: (name) => ({ name }),
  description: (description) => ({ description }),
  featured: (featured) => ({ featured }),
  ordering: (ordering) => ({ ordering }),
} satisfies PatchColumns<PictureText, Updateable<GalleryItem>>

/** @throws ApiError 403, 404 when the project's gallery has no picture at this address. */
export async function updatePicture(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, url, text }: { projectId: string; membership: Membership; url: string; text: PictureText },
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  await editGallery(deps, projectId, async (tx) => {
    const { id } = await getPicture(tx, projectId, url)
    if (text.featured === true) await clearFeatured(tx, projectId)
    const update: Updateable<GalleryItem> = toColumns(text, columns)
    if (Object.keys(update).length === 0) return
    await tx.updateTable('gallery_item').set(update).where('id', '=', id).execute()
  })
}
