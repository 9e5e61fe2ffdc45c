// Edits and deletes a collection, and adds single projects to it.

import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { namingLastEdit } from '#features/basics/audit/last-edit.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordEvent } from '#features/basics/events/record-event.ts'
import { iconColumns } from '#features/basics/images/hosted-image.ts'
import { ICON_BYTES_MAX, type IconOwner, removeImages } from '#features/basics/images/icons.ts'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable, requirePermittedPatch } from './policy.ts'
import {
  announceCollection,
  appendProject,
  findVisibleCollection,
  listCollections,
  listHiddenProjects,
  lockVisibleCollection,
  removeProject,
  replaceProjects,
  resolveProjects,
} from './queries.ts'
import { type CollectionPatch, PROJECTS_MAX, toCollectionColumns } from './requests.ts'
import { toCollectionView } from './views.ts'

type CollectionEdit = {
  id: string
  patch: CollectionPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
  /** Whether projects that the viewer cannot see keep their positions. Default: `new_projects` is the complete list. */
  keepsHidden?: boolean
}

/**
 * Edits a collection in one transaction, and always sets `updated`.
 * @throws ApiError 404 if the collection is hidden, 403 for a field that the viewer may not change, `validation_error`
 * naming `new_projects.N`, `conflict` for an outdated revision.
 */
export async function updateCollection(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  viewer: Viewer,
  edit: CollectionEdit,
): Promise<void> {
  await namingLastEdit(deps.db, { kind: 'collection', id: edit.id }, () =>
    withCurrentState(
      deps,
      () => saveEdit(deps, viewer, edit),
      async ({ db, config }) => {
        const shown = hasScope(viewer.scopes, 'COLLECTION_READ') ? viewer : null
        const [row] = await listCollections(db, shown, [edit.id])
        if (row === undefined) throw notFound('collection')
        return toCollectionView(config)(row)
      },
    ),
  )
}

async function saveEdit(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { id, patch, revision, keepsHidden = false }: CollectionEdit,
): Promise<void> {
  const update = toCollectionColumns(patch)
  requirePermittedPatch(viewer, await findVisibleCollection(deps.db, viewer, id), patch)
  const projectIds = await resolveProjects(deps.db, viewer, { names: patch.new_projects ?? [], field: 'new_projects' })
  await transaction(deps, async (tx, changed) => {
    // Checked again because the status might have changed since the first check.
    const before = await lockVisibleCollection(tx, viewer, id)
    requirePermittedPatch(viewer, before, patch)
    if (before !== undefined) {
      requireRevision(before, revision)
      announceCollection(changed, before)
    }
    await tx
      .updateTable('collection')
      .set({ ...update, updated: new Date(deps.now()) })
      .where('id', '=', id)
      .execute()
    if (before !== undefined && update.status !== undefined && update.status !== before.status) {
      const details = { from: before.status, to: update.status }
      const subject = { kind: 'collection', id } as const
      await recordAudit(tx, { action: 'collection.status_changed', actor: actorOf(viewer), subject, details })
    }
    if (patch.new_projects != null) {
      const all = keepsHidden ? withHidden(projectIds, await listHiddenProjects(tx, viewer, id)) : projectIds
      await replaceProjects(tx, { collectionId: id, projectIds: all, field: 'new_projects' })
    }
    if (before !== undefined) await recordChange(tx, viewer, { id, account_id: before.account_id }, Object.keys(patch))
  })
}

async function recordChange(
  tx: Tx,
  viewer: Viewer,
  { id, account_id }: { id: string; account_id: string },
  keys: string[],
): Promise<void> {
  const fields = keys.map((field) => (field === 'new_projects' ? 'projects' : field))
  const subject = { kind: 'collection', id } as const
  await recordEvent(tx, { kind: 'collection.updated', subject, account_id, data: { collection_id: id, fields } })
  // A changed status has its own entry.
  const details = { fields: fields.filter((field) => field !== 'status') }
  if (details.fields.length > 0)
    await recordAudit(tx, { action: 'collection.changed', actor: actorOf(viewer), subject, details })
}

/** Returns the list with the hidden projects at their positions. @throws ApiError `validation_error` if it is too long */
function withHidden(projectIds: readonly string[], hidden: readonly { id: string; position: number }[]): string[] {
  const all = [...projectIds]
  for (const { id, position } of hidden) all.splice(position, 0, id)
  if (all.length > PROJECTS_MAX)
    throw validationError('new_projects', `can have ${PROJECTS_MAX} projects, ${hidden.length} of which you cannot see`)
  return all
}

/** @throws ApiError 404 if the collection is hidden, 403 unless the viewer is its creator. */
export async function deleteCollection(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  id: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { account_id, icon_url, raw_icon_url } = requireEditable(viewer, await lockVisibleCollection(tx, viewer, id))
    announceCollection(changed, { account_id })
    await tx.deleteFrom('collection').where('id', '=', id).execute()
    await removeImages(tx, [icon_url, raw_icon_url])
    const subject = { kind: 'collection', id } as const
    await recordAudit(tx, { action: 'collection.deleted', actor: actorOf(viewer), subject })
  })
}

/**
 * Adds a project at the end of the collection, or removes it. Idempotent.
 * @throws ApiError 404 if the collection is hidden, 403 unless the viewer is its creator, `invalid_input` if it is full.
 */
export async function saveProject(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { collectionId, projectId, isSaved }: { collectionId: string; projectId: string; isSaved: boolean },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const collection = requireEditable(viewer, await lockVisibleCollection(tx, viewer, collectionId))
    const outcome = isSaved
      ? await appendProject(tx, collection.id, projectId)
      : await removeProject(tx, collection.id, projectId)
    if (outcome === 'full')
      throw invalidInput(`The collection ${collection.name} is full (limit: ${PROJECTS_MAX} projects)`)
    if (outcome === 'same') return
    announceCollection(changed, collection)
    await tx
      .updateTable('collection')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', collection.id)
      .execute()
    await recordChange(tx, viewer, collection, ['projects'])
  })
}

/** Lets the creator change the icon of a collection. */
export function collectionIconOwner({ db, now }: Pick<Deps, 'db' | 'now'>): IconOwner {
  return {
    path: '/v3/collection',
    noun: 'Collection',
    scopes: ['COLLECTION_WRITE'],
    maxBytes: ICON_BYTES_MAX - 1,
    authorize: async (viewer, name) =>
      requireEditable(viewer, await findVisibleCollection(db, viewer, parseId(name, 'id'))).id,
    write: async (tx, changed, { id, viewer, icon }) => {
      const before = requireEditable(viewer, await lockVisibleCollection(tx, viewer, id))
      announceCollection(changed, before)
      await tx
        .updateTable('collection')
        .set({ ...iconColumns(icon), updated: new Date(now()) })
        .where('id', '=', id)
        .execute()
      await recordChange(tx, viewer, before, ['icon'])
      return [before.icon_url, before.raw_icon_url]
    },
  }
}
