// Scheduled projects and versions take the status they asked for when their time has come: once, whoever finds them
// first, because the row is locked and looked at again.
import { sql } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import type { Db, Tx } from '#db/db.ts'
import { isApprovedClass, isPublicStatus } from '#features/access/project-status.ts'
import { insertStatusMessage } from '#features/projects/edit/change-status.ts'
import { listVersionIds, lockProject, type ProjectRow } from '#features/projects/queries.ts'
import { admitStatus } from '#features/versions/lifecycle/scan-gate.ts'
import { showVersion } from '#features/versions/lifecycle/show-version.ts'
import { announceVersion } from '#features/versions/publish/create-version.ts'
import { lockVersion } from '#features/versions/queries.ts'
import type { Deps } from '#main/deps.ts'

export type ReleaseDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/** Versions of a project that came out while it was hidden, of which followers are told; of more, the newest. */
const ANNOUNCED_MAX = 20

/** Returns whether the project was released by this call; false when it is not due, or no longer scheduled. */
export async function releaseProject(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, id)
    if (project === undefined || !isDue(project, deps.now())) return false
    const to = project.requested_status ?? ''
    const at = new Date(deps.now())
    if (isPublicStatus(to)) await announceHidden(tx, project, at)
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

/** The same for a version. It counts as published from the moment that was set; the scanner has its say before. */
export async function releaseVersion(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const named = await tx.selectFrom('version').select('project_id').where('id', '=', id).executeTakeFirst()
    // The project first, as everywhere.
    const project = named === undefined ? undefined : await lockProject(tx, named.project_id)
    const version = await lockVersion(tx, id)
    if (project === undefined || version === undefined || !isDue(version, deps.now())) return false
    const wanted = version.requested_status ?? ''
    const datePublished = version.scheduled_at ?? new Date(deps.now())
    const gate = { scanner: deps.config.scanner, now: deps.now() }
    const admitted = await admitStatus(tx, { id, from: version.status, wanted }, gate)
    if (admitted.status !== wanted) {
      await tx
        .updateTable('version')
        .set({ ...admitted, date_published: datePublished })
        .where('id', '=', id)
        .execute()
      changed.add('version', id)
      return true
    }
    await showVersion(tx, changed, {
      lockedProject: project,
      lockedVersion: version,
      status: wanted,
      datePublished,
      isNews: true,
      now: deps.now(),
    })
    return true
  })
}

function isDue(
  row: { status: string; scheduled_at: Date | null; requested_status: string | null },
  nowMs: number,
): boolean {
  const { status, scheduled_at, requested_status } = row
  return status === 'scheduled' && requested_status !== null && scheduled_at !== null && scheduled_at.getTime() <= nowMs
}

/** Followers could not be told of versions while the project was hidden. */
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
  for (const { id } of versions) {
    const to = project.requested_status ?? ''
    await announceVersion(tx, { versionId: id, projectId: project.id, status: 'listed', projectStatus: to, at })
  }
}

/** What the schedule finds overdue: jobs that were lost, or ran before their time by another clock. */
export async function listDue(db: Db, table: 'project' | 'version', now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where('status', '=', 'scheduled')
    .where('scheduled_at', '<=', now)
    .where('requested_status', 'is not', null)
    .orderBy('scheduled_at')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
