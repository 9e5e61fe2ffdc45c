import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { namingLastEdit } from '#features/basics/audit/last-edit.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { slugTaken } from './create-pack.ts'
import { requirePackOwner, requirePackPatch } from './policy.ts'
import {
  announcePack,
  findPack,
  lockVisiblePack,
  type PackReadRow,
  type PackRow,
  replacePackProjects,
  type SaveRow,
} from './queries.ts'
import { checkPackName, type PackPatch } from './requests.ts'
import { type PackSetup, type ResolvedPack, resolvePack, writeSave } from './resolve-pack.ts'
import { toPackView } from './views.ts'

type PackEdit = {
  id: string
  patch: PackPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * Edits a pack. New projects, another name or another setup become the next save.
 * @throws ApiError 404 if the pack is hidden, 403 for a field that the viewer may not change, `validation_error` naming a
 * field, `conflict` for a taken slug or an outdated revision.
 */
export async function updatePack(deps: Deps, viewer: Viewer, edit: PackEdit): Promise<void> {
  await namingLastEdit(deps.db, { kind: 'pack', id: edit.id }, () =>
    orCurrentState(deps, viewer, edit.id, () => saveEdit(deps, viewer, edit)),
  )
}

/** Runs an edit. The error of an outdated edit has the present pack in its details. */
function orCurrentState<T>(deps: Deps, viewer: Viewer, id: string, act: () => Promise<T>): Promise<T> {
  return withCurrentState(deps, act, async ({ db }) => {
    const row = await findPack(db, hasScope(viewer.scopes, 'COLLECTION_READ') ? viewer : null, id)
    if (row === undefined) throw notFound('pack')
    return toPackView(row)
  })
}

async function saveEdit(deps: Deps, viewer: Viewer, { id, patch, revision }: PackEdit): Promise<void> {
  const before = requirePackPatch(viewer, await findPack(deps.db, viewer, id), patch)
  const setup = setupAfter(before, patch)
  const changesVersions = [patch.projects, patch.name, patch.game_version].some((value) => value != null)
  const changesLoader = patch.loader !== undefined || patch.loader_version !== undefined
  const resolved =
    changesVersions || changesLoader ? await resolvePack(deps, patch.projects ?? before.projects, setup) : undefined
  await transaction(deps, async (tx, changed) => {
    // Checked again because the status might have changed since the first check.
    const row = requirePackPatch(viewer, await lockVisiblePack(tx, viewer, id), patch)
    // The versions were chosen for the state that was read before.
    requireRevision(row, revision ?? (resolved === undefined ? undefined : before.revision))
    await writeEdit(deps, tx, { row, patch, setup, resolved })
    announcePack(changed, row)
    await recordEdit(tx, viewer, row, patch)
  })
}

/** Returns the setup with the changes of the patch. */
function setupAfter(row: PackSetup, patch: PackPatch): PackSetup {
  return {
    name: patch.name == null ? row.name : checkPackName(patch.name),
    game_version: patch.game_version ?? row.game_version,
    loader: patch.loader === undefined ? row.loader : patch.loader,
    loader_version: patch.loader_version === undefined ? row.loader_version : patch.loader_version,
  }
}

type Written = { row: PackRow; patch: PackPatch; setup: PackSetup; resolved: ResolvedPack | undefined }

async function writeEdit(deps: Deps, tx: Tx, { row, patch, setup, resolved }: Written): Promise<void> {
  const slug = patch.slug?.toLowerCase() ?? row.slug
  const updated = new Date(deps.now())
  await tx
    .updateTable('pack')
    .set({ ...setup, slug, updated, ...(patch.status == null ? {} : { status: patch.status }) })
    .where('id', '=', row.id)
    .execute()
    .catch(onUnique({ pack_slug_key: () => slugTaken(slug) }))
  if (slug !== row.slug)
    await tx
      .insertInto('pack_previous_slug')
      .values({ account_id: row.account_id, slug: row.slug, pack_id: row.id })
      .onConflict((conflict) => conflict.columns(['account_id', 'slug']).doUpdateSet({ pack_id: row.id }))
      .execute()
  if (resolved === undefined) return
  if (patch.projects != null) await replacePackProjects(tx, row.id, resolved.projectIds)
  await writeSave(deps, tx, row.id, resolved.answer)
}

async function recordEdit(tx: Tx, viewer: Viewer, row: PackRow, { status, ...others }: PackPatch): Promise<void> {
  const subject = { kind: 'pack', id: row.id } as const
  const actor = actorOf(viewer)
  if (status != null && status !== row.status) {
    const details = { from: row.status, to: status }
    await recordAudit(tx, { action: 'pack.status_changed', actor, subject, details })
  }
  const fields = Object.keys(others)
  if (fields.length > 0) await recordAudit(tx, { action: 'pack.changed', actor, subject, details: { fields } })
}

/**
 * Chooses the newest versions of the projects again. Returns the save with them, which is new if a version has changed.
 * @throws ApiError 404, 403 unless the viewer is the owner, `validation_error` naming `projects.N`, `limit_reached`,
 * `conflict` if another request has changed the pack in the meantime.
 */
export function savePack(deps: Deps, viewer: Viewer, id: string): Promise<SaveRow & { isNew: boolean }> {
  return orCurrentState(deps, viewer, id, () => saveAgain(deps, viewer, id))
}

async function saveAgain(deps: Deps, viewer: Viewer, id: string): Promise<SaveRow & { isNew: boolean }> {
  const before: PackReadRow = requirePackOwner(viewer, await findPack(deps.db, viewer, id))
  const { answer } = await resolvePack(deps, before.projects, before)
  return transaction(deps, async (tx, changed) => {
    const row = requirePackOwner(viewer, await lockVisiblePack(tx, viewer, id))
    requireRevision(row, before.revision)
    const save = await writeSave(deps, tx, id, answer)
    if (!save.isNew) return save
    await tx
      .updateTable('pack')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', id)
      .execute()
    announcePack(changed, row)
    const details = { fields: ['versions'] }
    await recordAudit(tx, { action: 'pack.changed', actor: actorOf(viewer), subject: { kind: 'pack', id }, details })
    return save
  })
}

/** @throws ApiError 404 if the pack is hidden, 403 unless the viewer is its owner. */
export async function deletePack(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const row = requirePackOwner(viewer, await lockVisiblePack(tx, viewer, id))
    await tx.deleteFrom('pack').where('id', '=', id).execute()
    announcePack(changed, row)
    await recordAudit(tx, { action: 'pack.deleted', actor: actorOf(viewer), subject: { kind: 'pack', id } })
  })
}
