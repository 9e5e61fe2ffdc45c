// Rows of a project's gallery.

import { type HostedImage, imageKey } from '#features/basics/images/hosted-image.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'
import type { GalleryImageFields } from './requests.ts'

export type NewGalleryItem = { image: HostedImage; fields: GalleryImageFields; created: Date }

/** Inserts stored images with their descriptions. The unique key `gallery_item_content_key` rejects duplicates. */
export async function insertGalleryItems(tx: Tx, projectId: string, items: readonly NewGalleryItem[]): Promise<void> {
  if (items.length === 0) return
  const rows = items.map(({ image, fields, created }) => ({
    id: newId(),
    project_id: projectId,
    url: image.key,
    raw_url: image.rawKey,
    content_sha1: image.contentSha1,
    width: image.width,
    height: image.height,
    copy_widths: image.copyWidths,
    created,
    ...fields,
  }))
  await tx.insertInto('gallery_item').values(rows).execute()
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

/** Returns the image of this project that has this `url` in responses. @throws ApiError 404. */
export async function getGalleryItem(tx: Tx, projectId: string, url: string) {
  const item = await tx
    .selectFrom('gallery_item')
    .select(['id', 'url', 'raw_url', 'copy_widths'])
    .where('project_id', '=', projectId)
    .where('url', '=', imageKey(url))
    .executeTakeFirst()
  if (item === undefined) throw notFound('image')
  return item
}
