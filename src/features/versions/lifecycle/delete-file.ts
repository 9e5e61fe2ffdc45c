// Deletes one file of a version that has others.
import { transaction } from '#cache/transaction.ts'
import { lockProject } from '#features/projects/queries.ts'
import { removeLater } from '#files/claims.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { lockVersion } from '../queries.ts'
import { freeContents } from './delete-version.ts'
import { repeatIfQuarantined } from './scan-gate.ts'

/**
 * The bytes go, and are free for other projects. Where the file was the primary one, the next becomes it: the first by
 * name that is the thing itself and no attachment to it, else the first.
 * @throws ApiError 404 when it is gone, `invalid_input` when it is the only one.
 */
export async function deleteFile(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  { id, versionId, projectId }: { id: string; versionId: string; projectId: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, projectId)
    const version = await lockVersion(tx, versionId)
    const files = await tx
      .selectFrom('file')
      .select(['id', 'is_primary', 'file_type', 'storage_key', 'sha512'])
      .where('version_id', '=', versionId)
      .orderBy('filename')
      .execute()
    const file = files.find((candidate) => candidate.id === id)
    if (project === undefined || version === undefined || file === undefined) throw notFound('file')
    const others = files.filter((candidate) => candidate !== file)
    const next = others.find(({ file_type }) => file_type === null) ?? others[0]
    if (next === undefined) throw invalidInput('This is the only file of its version', 'hash')
    await tx.deleteFrom('file').where('id', '=', id).execute()
    if (file.is_primary) await tx.updateTable('file').set({ is_primary: true }).where('id', '=', next.id).execute()
    await freeContents(tx, projectId, [file.sha512])
    // The version shows it: its revision has to move.
    await tx.updateTable('version').set({ project_id: projectId }).where('id', '=', versionId).execute()
    const updated = new Date(deps.now())
    await tx.updateTable('project').set({ updated }).where('id', '=', projectId).execute()
    await repeatIfQuarantined(tx, versionId, deps.now())
    await removeLater(tx, [file.storage_key])
    changed.add('version', versionId)
    changed.add('project', projectId)
  })
}
