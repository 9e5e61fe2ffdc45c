// Edits and deletes images of a project's gallery.

import { sql } from 'kysely'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { namingLastEdit } from '#features/basics/audit/last-edit.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordProjectEvent } from '#features/basics/events/record-event.ts'
import { imageKey, imageKeys } from '#features/basics/images/hosted-image.ts'
import { ownedKeys } from '#features/basics/images/icons.ts'
import { notFound } from '#lib/errors.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue, removeJob } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { readerOfProject } from '../lookup/project-cache.ts'
import { lockProject, touchProject } from '../queries.ts'
import { clearFeatured, findGalleryItem, onDuplicateImage, requireRoom } from './queries.ts'
import type { GalleryImageFields } from './requests.ts'

export type GalleryDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'taxonomy'>

type GalleryImage = { projectId: string; membership: Membership; url: string }

/** Runs `edit` in a transaction that locks the project's row and sets its `updated`. `revision` is as in `ProjectEdit`. */
export async function editGallery(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, edit, revision }: { projectId: string; edit: (tx: Tx) => Promise<void>; revision?: number | undefined },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, projectId)
    if (project === undefined) throw notFound('project')
    requireRevision(project, revision)
    requireNotMirrored(project)
    await edit(tx)
    await touchProject(tx, projectId, new Date(deps.now()))
    const details = { fields: ['gallery'] }
    await recordProjectEvent(tx, 'project.updated', projectId, details)
    const subject = { kind: 'project', id: projectId } as const
    await recordAudit(tx, { action: 'project.changed', actor: actorOf(viewer), subject, details })
    changed.add('project', projectId)
  })
}

type ImageEdit = { url: string; fields: GalleryImageFields }

/** Edits an image like `updateGalleryImages`. */
export function updateGalleryImage(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, ...edit }: GalleryImage & ImageEdit,
): Promise<void> {
  return updateGalleryImages(deps, viewer, { projectId, membership, edits: [edit] })
}

/**
 * Edits all of these images or none. Restores an image first if it was removed in the last 10 minutes.
 * @throws ApiError 403 without EDIT_DETAILS, 404 if the gallery has no image with this URL, `conflict` for an outdated revision
 */
export async function updateGalleryImages(
  deps: GalleryDeps,
  viewer: Viewer,
  of: { projectId: string; membership: Membership; edits: readonly ImageEdit[]; revision?: number },
): Promise<void> {
  const { projectId, membership, edits, revision } = of
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  const edit = async (tx: Tx): Promise<void> => {
    for (const { url, fields } of edits) {
      const { id } = (await findGalleryItem(tx, projectId, url)) ?? (await restoreImage(deps, tx, { projectId, url }))
      if (fields.featured === true) await clearFeatured(tx, projectId)
      if (Object.values(fields).every((value) => value === undefined)) continue
      await tx.updateTable('gallery_item').set(fields).where('id', '=', id).execute()
    }
  }
  await namingLastEdit(deps.db, { kind: 'project', id: projectId }, () =>
    withCurrentState(
      deps,
      () => editGallery(deps, viewer, { projectId, edit, revision }),
      readerOfProject(viewer, projectId),
    ),
  )
}

/** Time during which a removed image can be restored. */
const RESTORE_MS = 10 * 60_000

const removalJob = (id: string): string => `gallery.remove:${id}`

/**
 * Removes an image from the gallery. Its files are deleted after 10 minutes; until then `updateGalleryImage` restores it.
 * @throws ApiError 403 without EDIT_DETAILS, 404 if the gallery has no image with this URL.
 */
export async function removeGalleryImage(
  deps: GalleryDeps,
  viewer: Viewer,
  { projectId, membership, url }: GalleryImage,
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  const removed = new Date(deps.now())
  const edit = async (tx: Tx): Promise<void> => {
    const item = await findGalleryItem(tx, projectId, url)
    if (item === undefined) throw notFound('image')
    await sql`insert into removed_gallery_item (id, project_id, url, item, removed)
      select id, project_id, url, to_jsonb(gallery_item), ${removed} from gallery_item where id = ${item.id}`.execute(
      tx,
    )
    await tx.deleteFrom('gallery_item').where('id', '=', item.id).execute()
    await tx
      .deleteFrom('removed_gallery_item')
      .where('removed', '<', new Date(deps.now() - RESTORE_MS))
      .execute()
    const keys = ownedKeys(imageKeys(item))
    const runAt = new Date(deps.now() + RESTORE_MS)
    if (keys.length > 0) await enqueue(tx, 'files.remove', { keys }, { runAt, jobKey: removalJob(item.id) })
  }
  await editGallery(deps, viewer, { projectId, edit })
}

/** Adds a removed image to the gallery again. @throws ApiError 404 if there is none, `invalid_input` for a full gallery. */
async function restoreImage(
  deps: GalleryDeps,
  tx: Tx,
  { projectId, url }: { projectId: string; url: string },
): Promise<{ id: string }> {
  const removed = await tx
    .deleteFrom('removed_gallery_item')
    .where('project_id', '=', projectId)
    .where('url', '=', imageKey(url))
    .where('removed', '>', new Date(deps.now() - RESTORE_MS))
    .returning('id')
    .returning('item')
    .executeTakeFirst()
  if (removed === undefined) throw notFound('image')
  await requireRoom(tx, projectId)
  const featured = await tx
    .selectFrom('gallery_item')
    .select('id')
    .where('project_id', '=', projectId)
    .where('featured', '=', true)
    .executeTakeFirst()
  const item = { ...(removed.item as object), ...(featured === undefined ? {} : { featured: false }) }
  await sql`insert into gallery_item select * from jsonb_populate_record(null::gallery_item, ${JSON.stringify(item)}::jsonb)`
    .execute(tx)
    .catch(onDuplicateImage)
  await removeJob(tx, removalJob(removed.id))
  return { id: removed.id }
}
