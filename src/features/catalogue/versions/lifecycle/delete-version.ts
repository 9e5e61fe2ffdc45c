// Deletes a version with its files. Dependencies on the version become dependencies on its project.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { type AuditEntry, recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { announceLostVersion } from '#features/catalogue/breakage/announce-loss.ts'
import { freeContents } from '#features/catalogue/contents/content-owners.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { deleteNotificationsAbout } from '#features/people/notifications/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'
import { type LockedVersion, lockVersion } from '../queries.ts'
import { eraseUploadsOf } from '../uploads/queries.ts'

/**
 * A job deletes the files after the commit. A draft that was never published needs only UPLOAD_VERSION.
 * @throws ApiError 403 without DELETE_VERSION, 404.
 */
export async function deleteVersion(
  deps: Deps,
  viewer: Viewer,
  { id, membership }: { id: string; membership: Membership },
): Promise<void> {
  const projectId = await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    if (locked === undefined) throw notFound('version')
    requirePermission(viewer, membership, locked.version.is_new_draft ? 'UPLOAD_VERSION' : 'DELETE_VERSION')
    await recordAudit(tx, deletionEntry(actorOf(viewer), locked))
    await eraseVersion(tx, changed, locked, new Date(deps.now()))
    return locked.project.id
  })
  recordEvent(deps, 'version.deleted', { project_id: projectId, version_id: id })
}

/** Returns the audit entry of a deletion. */
export function deletionEntry(actor: Actor, { project, version }: LockedVersion): AuditEntry {
  const details = { project: project.id, version_number: version.version_number }
  return { action: 'version.deleted', actor, subject: { kind: 'version', id: version.id }, details }
}

/** Deletes a locked version. */
export async function eraseVersion(tx: Tx, changed: ChangeSet, locked: LockedVersion, at: Date): Promise<void> {
  const projectId = locked.project.id
  const { id } = locked.version
  const files = await tx.selectFrom('file').select(['storage_key', 'sha512']).where('version_id', '=', id).execute()
  const dependents = await tx
    .selectFrom('dependency')
    .select('dependent_id')
    .distinct()
    .where('version_id', '=', id)
    .execute()
  const replaced = await tx.selectFrom('version').select('id').where('withdrawn_replacement', '=', id).execute()
  if (!locked.version.is_new_draft)
    await recordVersionEvent(tx, 'version.removed', { projectId, versionId: id }, { state: 'removed' })
  if (isPublicVersionStatus(locked.version.status))
    await announceLostVersion(tx, locked.version, { reason: 'removed', at })
  await dropImages(tx, 'version', [id])
  await eraseUploadsOf(tx, id)
  await deleteNotificationsAbout(tx, changed, 'version_id', [id])
  await tx.deleteFrom('version').where('id', '=', id).execute()
  const hashes = files.map(({ sha512 }) => sha512)
  await freeContents(tx, projectId, hashes)
  if (!locked.version.is_new_draft) await touchProject(tx, projectId, at)
  const keys = files.map(({ storage_key }) => storage_key)
  await removeLater(tx, keys)
  changed.add('project', projectId)
  changed.add('version', id, ...dependents.map(({ dependent_id }) => dependent_id), ...replaced.map((each) => each.id))
}
