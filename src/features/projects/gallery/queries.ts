// Rows of a project's gallery.
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { lockProject, touchProject } from '../queries.ts'

export type GalleryDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** The transaction of every edit of a gallery: it locks the project's row, and it is the project that changes. */
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
    .select(['id', 'url', 'raw_url'])
    .where('project_id', '=', projectId)
    .where('url', '=', url)
    .executeTakeFirst()
  if (item === undefined) throw notFound('picture')
  return item
}
