// A scheduled project takes the status that was requested when its time has come: once, whatever finds it first, because
// the row is locked and looked at again.
import { sql } from 'kysely'
import { insertStatusMessage } from '#features/catalogue/projects/edit/change-status.ts'
import { listVersionIds, lockProject, type ProjectRow } from '#features/catalogue/projects/queries.ts'
import { announceVersion } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { isApprovedClass, isPublicStatus } from '#lib/project-status.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { isDue, type ReleaseDeps } from './queries.ts'

/** Versions that became listed while the project was hidden, of which followers are notified; of more, the newest. */
const ANNOUNCED_MAX = 20

/** Returns whether the project was released by this call; false when it is not due, or no longer scheduled. */
export async function releaseProject(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, id)
    if (project === undefined || project.requested_status === null || !isDue(project, deps.now())) return false
    const to = project.requested_status
    const at = new Date(deps.now())
    if (isPublicStatus(to)) await announceHidden(tx, { ...project, status: to }, at)
    await insertStatusMessage(tx, { project, to, authorId: null, hideIdentity: false })
    await tx
      .updateTable('project')
      .set({
        status: to,
        scheduled_at: null,
        updated: at,
        ...(isApprovedClass(to) && project.approved === null ? { approved: at } : {}),
      })
      .where('id', '=', id)
      .execute()
    changed.add('project', id)
    // Versions are cached with their project's status, which decides who sees them.
    changed.addEach('version', await listVersionIds(tx, id))
    return true
  })
}

/** Notifies followers of versions that became listed while the project, with its new status, was hidden. */
async function announceHidden(tx: Tx, project: ProjectRow, at: Date): Promise<void> {
  const hiddenSince = sql<Date>`(select max(thread_message.created)
    from thread join thread_message on thread_message.thread_id = thread.id
    where thread.project_id = ${project.id} and thread_message.body ->> 'type' = 'status_change'
      and thread_message.body ->> 'new_status' = 'scheduled')`
  const versions = await tx
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', project.id)
    .where('status', '=', 'listed')
    .where('date_published', '>=', hiddenSince)
    .orderBy('date_published', 'desc')
    .limit(ANNOUNCED_MAX)
    .execute()
  for (const { id } of versions) await announceVersion(tx, { versionId: id, project, status: 'listed', at })
}
