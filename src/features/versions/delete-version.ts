// Deletes a version: its files go, and what depended on it depends on its project from then on.
import { sql } from 'kysely'
import { writing } from '#cache/writing.ts'
import { notFound } from '#lib/errors.ts'
import { recordEvent } from '#telemetry/events.ts'
import type { Deps } from '../../deps.ts'
import { lockProject } from '../projects/queries.ts'
import { removeLater } from './store-files.ts'

export async function deleteVersion(deps: Deps, { id, projectId }: { id: string; projectId: string }): Promise<void> {
  await writing(deps, async (tx, changed) => {
    const project = await lockProject(tx, projectId)
    if (project === undefined) throw notFound('version')
    const files = await tx.selectFrom('file').select(['storage_key', 'sha512']).where('version_id', '=', id).execute()
    const dependents = await tx.selectFrom('dependency').select('dependent_id').distinct().where('version_id', '=', id).execute()
    const { numDeletedRows } = await tx.deleteFrom('version').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('version')
    // The bytes are free for other projects again once no version of this one holds them.
    await sql`delete from file_content where project_id = ${projectId} and sha512 = any(${files.map(({ sha512 }) => sha512)}::text[])
      and not exists (select 1 from file where file.sha512 = file_content.sha512)`.execute(tx)
    await tx.updateTable('project').set({ updated: new Date(deps.now()) }).where('id', '=', projectId).execute()
    await removeLater(tx, files.map(({ storage_key }) => storage_key))
    changed.add('project', projectId)
    changed.add('version', id, ...dependents.map(({ dependent_id }) => dependent_id))
  })
  recordEvent(deps, 'version.deleted', { project_id: projectId, version_id: id })
}
