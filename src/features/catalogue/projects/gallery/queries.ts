// Rows of a project's gallery.

import { notFound } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'

/** At most one picture is featured: makes room for another one. */
export async function clearFeatured(tx: Tx, projectId: string): Promise<void> {
  await tx
    .updateTable('gallery_item')
    .set({ featured: false })
    .where('project_id', '=', projectId)
    .where('featured', '=', true)
    .execute()
}

/**
 * The picture of this project at the address that answers show as `url`.
 * @throws ApiError 404.
 */
export async function getPicture(tx: Tx, projectId: string, url: string) {
  const item = await tx
    .selectFrom('gallery_item')
    .select(['id', 'url', 'raw_url', 'copy_widths'])
    .where('project_id', '=', projectId)
    .where('url', '=', url)
    .executeTakeFirst()
  if (item === undefined) throw notFound('picture')
  return item
}
