// Rows of a project's gallery.

import type { Selectable } from 'kysely'
import { type HostedImage, imageKey } from '#features/basics/images/hosted-image.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { countRows, type Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { GalleryItem } from '#platform/db/schema.ts'
import type { GalleryImageFields } from './requests.ts'

export type NewGalleryItem = { image: HostedImage; fields: GalleryImageFields; created: Date }

/** Inserts stored images with their descriptions. The unique key `gallery_item_content_key` rejects duplicates. */
export async function insertGalleryItems(tx: Tx, projectId: string, items: readonly NewGalleryItem[]): Promise<void> {
  if (items.length === 0) return
  const rows = items.map(({ image, fields, created }) => ({ ...toGalleryRow(projectId, image), created, ...fields }))
  await tx.insertInto('gallery_item').values(rows).execute()
}

/** Returns the columns of a new image without its description. */
export function toGalleryRow(projectId: string, image: HostedImage) {
  return {
    id: newId(),
    project_id: projectId,
    url: image.key,
    raw_url: image.rawKey,
    content_sha1: image.contentSha1,
    width: image.width,
    height: image.height,
    copy_widths: image.copyWidths,
  }
}

/** A gallery has at most one featured image: this makes room for another. */
export async function clearFeatured(tx: Tx, projectId: string): Promise<void> {
  await tx
    .updateTable('gallery_item')
    .set({ featured: false })
    .where('project_id', '=', projectId)
    .where('featured', '=', true)
    .execute()
}

/** Returns the image of this project that has this `url` in responses. */
export function findGalleryItem(
  tx: Tx,
  projectId: string,
  url: string,
): Promise<Pick<Selectable<GalleryItem>, 'id' | 'url' | 'raw_url' | 'copy_widths'> | undefined> {
  return tx
    .selectFrom('gallery_item')
    .select(['id', 'url', 'raw_url', 'copy_widths'])
    .where('project_id', '=', projectId)
    .where('url', '=', imageKey(url))
    .executeTakeFirst()
}

const GALLERY_ITEMS_MAX = 64

/** @throws ApiError `invalid_input` if the gallery is full */
export async function requireRoom(tx: Tx, projectId: string): Promise<void> {
  const count = await countRows(tx.selectFrom('gallery_item').where('project_id', '=', projectId))
  if (count >= GALLERY_ITEMS_MAX) throw invalidInput(`A gallery can contain at most ${GALLERY_ITEMS_MAX} images`)
}

/** Maps the error of an image that the gallery already contains. */
export const onDuplicateImage = onUnique({
  gallery_item_content_key: () => invalidInput('The gallery already contains this image', 'image'),
})
