// Deletes a file from a version that has other files.

import { findMembership } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { freeContents } from '#features/catalogue/contents/content-owners.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'
import { refreshDraft } from '../drafts/draft-files.ts'
import { lockVersion } from '../queries.ts'
import { repeatIfQuarantined } from './scan-gate.ts'

/**
 * Deletes the file and its content, which any project can then upload again. Another file of this version can use the
 * name only with the same content. A draft that was never published needs only UPLOAD_VERSION, and can lose all its files. If the file was primary, the first file without a file type becomes primary.
 * @throws ApiError 403 without DELETE_VERSION, 404 if the file does not exist, `invalid_input` if it is the only file.
 */
export async function deleteFile(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'taxonomy'>,
  viewer: Viewer,
  { id, versionId, projectId }: { id: string; versionId: string; projectId: string },
): Promise<void> {
  const membership = await findMembership(deps.db, viewer, { id: projectId })
  await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, versionId)
    const isDraft = locked?.version.is_new_draft ?? false
    requirePermission(viewer, membership, isDraft ? 'UPLOAD_VERSION' : 'DELETE_VERSION')
    const files = await tx
      .selectFrom('file')
      .select(['id', 'is_primary', 'file_type', 'storage_key', 'sha512'])
      .where('version_id', '=', versionId)
      .orderBy('filename')
      .execute()
    const file = files.find((candidate) => candidate.id === id)
    if (locked === undefined || file === undefined) throw notFound('file')
    const others = files.filter((candidate) => candidate !== file)
    requireNotMirrored(locked.version)
    const next = others.find(({ file_type }) => file_type === null) ?? others[0]
    if (next === undefined && !isDraft)
      throw invalidInput('The only file of a version cannot be deleted; delete the version instead', 'hash')
    await tx.deleteFrom('file').where('id', '=', id).execute()
    if (file.is_primary && next !== undefined)
      await tx.updateTable('file').set({ is_primary: true }).where('id', '=', next.id).execute()
    await freeContents(tx, projectId, [file.sha512])
    await refreshDraft(tx, deps, locked.version)
    if (!isDraft) {
      await touchProject(tx, projectId, new Date(deps.now()))
      await recordVersionEvent(tx, 'version.updated', { projectId, versionId }, { fields: ['files'] })
    }
    await repeatIfQuarantined(tx, versionId, deps.now())
    await removeLater(tx, [file.storage_key])
    await recordAudit(tx, {
      action: 'version.file_deleted',
      actor: actorOf(viewer),
      subject: { kind: 'file', id },
      details: { project: projectId, version: versionId, sha512: file.sha512 },
    })
    changed.add('version', versionId)
    changed.add('project', projectId)
  })
}
