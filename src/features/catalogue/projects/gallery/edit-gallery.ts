import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
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
