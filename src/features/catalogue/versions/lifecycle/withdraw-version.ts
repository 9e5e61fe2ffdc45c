// Withdraws versions. A withdrawn version stays in lists and can be downloaded, but nothing that chooses a version
// chooses it.

import type { Updateable } from 'kysely'
import { listMemberIds } from '#features/basics/access/memberships.ts'
import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { announceLostVersion } from '#features/catalogue/breakage/announce-loss.ts'
import { deletePendingBreaks } from '#features/catalogue/breakage/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Version } from '#platform/db/schema.ts'
import type { LockedVersion, VersionRow } from '../queries.ts'
import type { VersionPatch } from './requests.ts'

type Columns = Pick<VersionRow, 'withdrawn_kind' | 'withdrawn_reason' | 'withdrawn_replacement' | 'withdrawn_at'>

const NOT_WITHDRAWN: Columns = {
  withdrawn_kind: null,
  withdrawn_reason: null,
  withdrawn_replacement: null,
  withdrawn_at: null,
}

/**
 * Returns the columns that the patch sets: none if it does not change the withdrawal.
 * @param status status that the patch sets
 * @throws ApiError `validation_error`, naming the field
 */
export async function withdrawalChange(
  tx: Tx,
  { version }: LockedVersion,
  { patch, status = version.status, now }: { patch: VersionPatch; status?: string | undefined; now: number },
): Promise<Updateable<Version>> {
  const { withdrawn } = patch
  if (withdrawn === undefined) return {}
  if (withdrawn === null) return version.withdrawn_at === null ? {} : NOT_WITHDRAWN
  if (isBlank(withdrawn.reason)) throw validationError('withdrawn.reason', 'must not be blank')
  if (version.withdrawn_at === null && !isPublicVersionStatus(status))
    throw validationError('withdrawn', 'must be null for a version that is not published')
  const replacement = withdrawn.replacement ?? null
  if (replacement !== null) await checkReplacement(tx, version, replacement)
  return {
    withdrawn_kind: withdrawn.kind,
    withdrawn_reason: withdrawn.reason.trim(),
    withdrawn_replacement: replacement,
    withdrawn_at: version.withdrawn_at ?? new Date(now),
  }
}

/** The lock of the project excludes a change of the replacement at the same time. */
async function checkReplacement(tx: Tx, version: VersionRow, replacement: string): Promise<void> {
  const field = 'withdrawn.replacement'
  if (!isIdForm(replacement)) throw validationError(field, 'must be the ID of a version')
  if (replacement === version.id) throw validationError(field, 'must be another version')
  const row = await tx
    .selectFrom('version')
    .select(['status', 'withdrawn_at'])
    .where('id', '=', replacement)
    .where('project_id', '=', version.project_id)
    .executeTakeFirst()
  if (row === undefined || !isPublicVersionStatus(row.status))
    throw validationError(field, 'must be a published version of the same project')
  if (row.withdrawn_at !== null) throw validationError(field, 'must be a version that is not withdrawn')
}

/** Records a withdrawal, its end, or another reason, and notifies the other members of a new withdrawal. */
export async function recordWithdrawal(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { project, version }: LockedVersion,
  update: Updateable<Version>,
): Promise<void> {
  if (update.withdrawn_at === undefined) return
  const { withdrawn_kind: kind, withdrawn_reason: reason, withdrawn_replacement: replacement } = update
  const { withdrawn_kind, withdrawn_reason, withdrawn_replacement } = version
  const isSame = kind === withdrawn_kind && reason === withdrawn_reason && replacement === withdrawn_replacement
  if (isSame) return
  const subject = { kind: 'version', id: version.id } as const
  const ids = { projectId: project.id, versionId: version.id }
  const about = { project: project.id, version_number: version.version_number }
  if (update.withdrawn_at === null) {
    await recordAudit(tx, { action: 'version.restored', actor: actorOf(viewer), subject, details: about })
    await recordVersionEvent(tx, 'version.updated', ids, { fields: ['withdrawn'] })
    await deletePendingBreaks(tx, ids)
    return
  }
  const details = { ...about, kind: kind ?? null, reason: reason ?? null, replacement: replacement ?? null }
  await recordAudit(tx, { action: 'version.withdrawn', actor: actorOf(viewer), subject, details })
  if (version.withdrawn_at !== null) {
    await recordVersionEvent(tx, 'version.updated', ids, { fields: ['withdrawn'] })
    return
  }
  await recordVersionEvent(tx, 'version.withdrawn', ids, { kind, reason, replacement })
  await announceLostVersion(tx, version, { reason: 'withdrawn', at: new Date(update.withdrawn_at) })
  const members = (await listMemberIds(tx, project)).filter((id) => id !== viewer.id)
  await insertNotifications(tx, changed, members, {
    type: 'version_withdrawn',
    project_id: project.id,
    version_id: version.id,
  })
}
