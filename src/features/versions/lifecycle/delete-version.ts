// Deletes a version: its files go, and what depended on it depends on its project from then on.
import { sql } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { dropImages } from '#features/content-images/queries.ts'
import { lockProject } from '#features/projects/queries.ts'
import { removeLater } from '#files/claims.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'

/**
 * In one transaction, with the project locked; the bytes are removed by a job once it has committed.
 * @throws ApiError 404 when the version is gone; of two deletions at once the second finds none.
 */
export async function deleteVersion(deps: Deps, { id, projectId }: { id: string; projectId: string }): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, projectId)
    if (project === undefined) throw notFound('version')
    const files = await tx.selectFrom('file').select(['storage_key', 'sha512']).where('version_id', '=', id).execute()
    const dependents = await tx
      .selectFrom('dependency')
      .select('dependent_id')
      .distinct()
      .where('version_id', '=', id)
      .execute()
    await dropImages(tx, 'version', [id])
    const { numDeletedRows } = await tx.deleteFrom('version').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('version')
    await freeContents(
      tx,
      projectId,
      files.map(({ sha512 }) => sha512),
    )
    await tx
      .updateTable('project')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', projectId)
      .execute()
    await removeLater(
      tx,
      files.map(({ storage_key }) => storage_key),
    )
    changed.add('project', projectId)
    changed.add('version', id, ...dependents.map(({ dependent_id }) => dependent_id))
  })
  recordEvent(deps, 'version.deleted', { project_id: projectId, version_id: id })
}

/** The bytes are free for other projects again once no version of this one holds them. */
export async function freeContents(tx: Tx, projectId: string, sha512s: readonly string[]): Promise<void> {
  await sql`delete from file_content where project_id = ${projectId} and sha512 = any(${[...sha512s]}::text[])
    and not exists (select 1 from file where file.sha512 = file_content.sha512)`.execute(tx)
}
