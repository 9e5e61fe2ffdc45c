// Making and editing collections.
import { transaction } from '#cache/transaction.ts'
import type { Db } from '#db/db.ts'
import { requireVerifiedEmail } from '#features/access/verified-email.ts'
import { checkQuota } from '#features/limits/quota.ts'
import { removePictures } from '#features/pictures/icons.ts'
import { forbidden, notFound, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { checkText } from '#lib/text-rules.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'
import { isCreator, requireStatusChange } from './policy.ts'
import {
  type CollectionRow,
  findVisibleCollection,
  insertCollection,
  listVisibleProjectNames,
  lockVisibleCollection,
  replaceProjects,
} from './queries.ts'
import { type CollectionInput, type CollectionPatch, NAME_LENGTH } from './views.ts'

/**
 * Makes a collection, listed, and returns its ID.
 * @throws ApiError 403 without a verified address, `LimitReached`, `validation_error` naming `projects.N`.
 */
export async function createCollection(deps: Deps, viewer: Viewer, input: CollectionInput): Promise<string> {
  requireVerifiedEmail(deps, viewer)
  const name = checkName(input.name)
  const projectIds = await resolveProjects(deps.db, viewer, input.projects ?? [], 'projects')
  const id = newId()
  const created = new Date(deps.now())
  await transaction(deps, async (tx) => {
    await checkQuota(tx, deps.config, viewer, 'collections')
    await insertCollection(tx, { id, account_id: viewer.id, name, description: input.description ?? null, created })
    await replaceProjects(tx, { collectionId: id, projectIds, field: 'projects' })
  })
  recordEvent(deps, 'collection.created', { collection_id: id })
  return id
}

/**
 * Edits a collection; when one field is refused, none is saved. `updated` moves with every call.
 * @throws ApiError 404 when it is hidden, 403 for what only its creator or only a moderator may do,
 * `validation_error` naming `new_projects.N`.
 */
export async function updateCollection(deps: Deps, viewer: Viewer, id: string, patch: CollectionPatch): Promise<void> {
  const name = patch.name == null ? undefined : checkName(patch.name)
  requirePermitted(viewer, await findVisibleCollection(deps.db, viewer, id), patch)
  const projectIds = await resolveProjects(deps.db, viewer, patch.new_projects ?? [], 'new_projects')
  await transaction(deps, async (tx) => {
    requirePermitted(viewer, await lockVisibleCollection(tx, viewer, id), patch)
    await tx
      .updateTable('collection')
      .set({
        updated: new Date(deps.now()),
        ...(name === undefined ? {} : { name }),
        ...(patch.description === undefined ? {} : { description: patch.description }),
        ...(patch.status == null ? {} : { status: patch.status }),
      })
      .where('id', '=', id)
      .execute()
    if (patch.new_projects != null) {
      await replaceProjects(tx, { collectionId: id, projectIds, field: 'new_projects' })
    }
  })
}

/** Deletes a collection. @throws ApiError 404 when it is hidden, 403 for others than its creator. */
export async function deleteCollection(deps: Deps, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const { icon_url, raw_icon_url } = requireEditable(viewer, await lockVisibleCollection(tx, viewer, id))
    await tx.deleteFrom('collection').where('id', '=', id).execute()
    await removePictures(tx, deps.config, [icon_url, raw_icon_url])
  })
}

/** @throws ApiError 404 when the collection is hidden, 403 for others than its creator, moderators included. */
export function requireEditable(viewer: Viewer, collection: CollectionRow | undefined): CollectionRow {
  if (collection === undefined) throw notFound('collection')
  if (!isCreator(viewer, collection)) throw forbidden('Only its creator may edit or delete a collection')
  return collection
}

/** A moderator who is not the creator changes the status and nothing else. */
function requirePermitted(viewer: Viewer, collection: CollectionRow | undefined, patch: CollectionPatch): void {
  const { name, description, new_projects: projects, status } = patch
  const isStatusOnly = status != null && name == null && description === undefined && projects == null
  if (collection === undefined || !isStatusOnly || !isModerator(viewer)) requireEditable(viewer, collection)
  if (collection !== undefined && status != null) requireStatusChange(viewer, collection, status)
}

function checkName(name: string): string {
  return checkText(name.trim(), 'name', { ...NAME_LENGTH, visible: true })
}

/**
 * IDs of the projects that these names name, in their order, each once. One statement.
 * @throws ApiError `validation_error` naming the first that is unknown or hidden from the viewer.
 */
async function resolveProjects(db: Db, viewer: Viewer, names: readonly string[], field: string): Promise<string[]> {
  const known = new Map<string, string>()
  const projects = await listVisibleProjectNames(db, viewer, names)
  for (const { id, slug } of projects) known.set(slug, id)
  // The ID wins over a slug.
  for (const { id } of projects) known.set(id, id)
  const ids = names.map((name, index) => {
    const id = known.get(name) ?? known.get(name.toLowerCase())
    if (id === undefined) throw validationError(`${field}.${index}`, 'names no project')
    return id
  })
  return [...new Set(ids)]
}
