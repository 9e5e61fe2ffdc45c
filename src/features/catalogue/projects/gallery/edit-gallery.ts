// Edits and deletes images of a project's gallery.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { imageKeys } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { lockProject, touchProject } from '../queries.ts'
import { clearFeatured, getGalleryItem } from './queries.ts'
import type { GalleryImageFields } from './requests.ts'

export type GalleryDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

type GalleryImage = { projectId: string; membership: Membership; url: string }

/** Runs `edit` in a transaction that locks the project's row and sets its `updated`. */
export async function editGallery(
  deps: GalleryDeps,
  projectId: string,
  edit: (tx: Tx) => Promise<void>,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if ((await lockProject(tx, projectId)) === undefined) throw notFound('project')
    await edit(tx)
    await touchProject(tx, projectId, new Date(deps.now()))
    changed.add('project', projectId)
  })
}

/** @throws ApiError 403 without EDIT_DETAILS, 404 if the gallery has no image with this URL. */
export async function updateGalleryImage(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, url, fields }: GalleryImage & { fields: GalleryImageFields },
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  await editGallery(deps, projectId, async (tx) => {
    const { id } = await getGalleryItem(tx, projectId, url)
    if (fields.featured === true) await clearFeatured(tx, projectId)
    if (Object.values(fields).every((value) => value === undefined)) return
    await tx.updateTable('gallery_item').set(fields).where('id', '=', id).execute()
  })
}

/** @throws ApiError 403 without EDIT_DETAILS, 404 if the gallery has no image with this URL. */
export async function removeGalleryImage(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, url }: GalleryImage,
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  await editGallery(deps, projectId, async (tx) => {
    const item = await getGalleryItem(tx, projectId, url)
    await tx.deleteFrom('gallery_item').where('id', '=', item.id).execute()
    await removeImages(tx, imageKeys(item))
  })
}
