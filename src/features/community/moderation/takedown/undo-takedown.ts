// Undoes a takedown: gives each part of the content the value that it had before, and lifts the blocks of its files.
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { CollectionPatch } from '#features/community/collections/requests.ts'
import { updateCollection } from '#features/community/collections/update-collection.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { listBlockedVersions } from './blocks.ts'
import { requireUndoer } from './policy.ts'
import { type Concerned, getTakedown, type TakedownRow } from './queries.ts'
import type { TakedownKind } from './requests.ts'
import { subjectOf, type TakedownDeps } from './take-down.ts'

/** A part of the content, with its values before the takedown and now. `now` is null if the part was deleted. */
export type Part = {
  kind: 'project' | 'version' | 'collection' | 'user'
  id: string
  name: string
  before: string
  now: string | null
  /** Whether the part still has the value that the takedown gave it, which differs from the one before. */
  isHidden: boolean
}

/** Returns the parts that the takedown changed. */
export async function listParts({ db }: Pick<TakedownDeps, 'db'>, row: TakedownRow): Promise<Part[]> {
  const { before, visibility } = row
  const parts = partsOf(before, visibility)
  const ids = parts.map(({ id }) => id)
  const { rows } = await sql<{ id: string; now: string }>`
    select id, status as now from project where id = any(${ids}::text[])
    union all select id, status from version where id = any(${ids}::text[])
    union all select id, status from collection where id = any(${ids}::text[])
    union all select id, coalesce(bio, '') from account where id = any(${ids}::text[])`.execute(db)
  const current = new Map(rows.map(({ id, now }) => [id, now]))
  return parts.map((part) => {
    const now = current.get(part.id) ?? null
    return { ...part, now, isHidden: part.before !== now && now === hiddenValue(part.kind, visibility) }
  })
}

/** A profile without a text counts as one with an empty text. */
const hiddenValue = (kind: Part['kind'], visibility: string): string => (kind === 'user' ? '' : visibility)

/** Versions are parts only if the takedown unlists them; otherwise it hides their projects. */
function partsOf(
  { projects, versions, collection, user }: Concerned,
  visibility: string,
): Omit<Part, 'now' | 'isHidden'>[] {
  const numbered = versions.map(({ id, version_number: name, status: before }) => ({
    kind: 'version' as const,
    id,
    name,
    before,
  }))
  return [
    ...(visibility === 'unlisted'
      ? numbered
      : projects.map(({ id, name, status: before }) => ({ kind: 'project' as const, id, name, before }))),
    ...(collection === null
      ? []
      : [{ kind: 'collection' as const, id: collection.id, name: collection.name, before: collection.status }]),
    ...(user === null ? [] : [{ kind: 'user' as const, id: user.id, name: user.username, before: user.text ?? '' }]),
  ]
}

/** A part that the undoing did not restore, with the reason of the refusal. */
export type Left = { kind: Part['kind']; id: string; name: string; reason: string }

/**
 * Undoes a takedown with the commands that change each part. Parts that somebody changed after the takedown stay as they are.
 * Returns the parts that could not be restored.
 * @throws ApiError 404, 403 for a moderator after an hour, `conflict` if it was undone before.
 */
export async function undoTakedown(deps: TakedownDeps, viewer: Viewer, id: string): Promise<Left[]> {
  const row = await getTakedown(deps.db, id)
  requireUndoer(viewer, row, deps.now())
  const parts = await listParts(deps, row)
  await transaction(deps, async (tx, changed) => {
    const { numUpdatedRows } = await tx
      .updateTable('takedown')
      .set({ undone: new Date(deps.now()), undone_by_id: viewer.id })
      .where('id', '=', id)
      .where('undone', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new ApiError('conflict', 'This takedown was undone before')
    changed.addEach('version', await listBlockedVersions(tx, { takedownId: id }))
    await tx.deleteFrom('blocked_content').where('takedown_id', '=', id).execute()
    await tx.deleteFrom('blocked_external_image').where('takedown_id', '=', id).execute()
    await recordAudit(tx, {
      action: 'content.takedown_undone',
      actor: actorOf(viewer),
      subject: subjectOf(row.kind as TakedownKind, row.target, row.before.projects[0]?.id),
      details: { takedown: id },
    })
  })
  const left: Left[] = []
  for (const part of parts.filter(({ isHidden }) => isHidden)) {
    try {
      await restore(deps, viewer, part)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      left.push({ kind: part.kind, id: part.id, name: part.name, reason: error.message })
    }
  }
  return left
}

async function restore(deps: TakedownDeps, viewer: Viewer, { kind, id, before }: Part): Promise<void> {
  if (kind === 'user') return updateUser(deps, viewer, { name: id, patch: { bio: before } })
  if (kind === 'collection')
    return updateCollection(deps, viewer, { id, patch: { status: before as NonNullable<CollectionPatch['status']> } })
  if (kind === 'version') {
    const { membership } = await getVersionAsMember(deps, viewer, id)
    return updateVersion(deps, viewer, {
      id,
      membership,
      patch: { status: before as NonNullable<VersionPatch['status']> },
    })
  }
  const { project, membership } = await getProjectAsMember(deps, viewer, id)
  return updateProject(deps, viewer, {
    project,
    membership,
    patch: { status: before as NonNullable<ProjectPatch['status']> },
  })
}
