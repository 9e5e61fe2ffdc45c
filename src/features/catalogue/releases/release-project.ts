// Releases scheduled projects and versions: they take their requested status. Several jobs can find the same release;
// each locks the row and checks it again, so that only the first one releases it.
import { sql } from 'kysely'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordStatusEvents } from '#features/basics/events/record-event.ts'
import { insertStatusMessage } from '#features/catalogue/projects/edit/change-status.ts'
import { listVersionIds, lockProject, type ProjectRow } from '#features/catalogue/projects/queries.ts'
import { admitStatus } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import {
  announceVersion,
  recordVersionStatus,
  showVersion,
} from '#features/catalogue/versions/lifecycle/show-version.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { isApprovedClass, isPublicStatus } from '#taxonomy/project-status.ts'

export type ReleaseDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/** Maximum number of versions, newest first, about which followers are notified when the project becomes public. */
const ANNOUNCED_MAX = 20

/** Returns whether a locked row is still scheduled and its time has come. */
function isDue({ status, scheduled_at }: { status: string; scheduled_at: Date | null }, nowMs: number): boolean {
  return status === 'scheduled' && scheduled_at !== null && scheduled_at.getTime() <= nowMs
}

/** Returns the IDs of due projects or versions, longest overdue first. */
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

/** Returns whether this call released the project: false if the project is not due or no longer scheduled. */
export async function releaseProject(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, id)
    if (project === undefined || project.requested_status === null || !isDue(project, deps.now())) return false
    const to = project.requested_status
    const at = new Date(deps.now())
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
    await recordStatusEvents(tx, { id, from: project.status, to })
    if (isPublicStatus(to)) await announceHidden(tx, { ...project, status: to }, at)
    await recordAudit(tx, {
      action: 'project.status_changed',
      actor: SYSTEM,
      subject: { kind: 'project', id },
      details: { from: project.status, to },
    })
    changed.add('project', id)
    // Versions are cached with the status of their project, which decides who can see them.
    changed.addEach('version', await listVersionIds(tx, id))
    return true
  })
}

/** Notifies followers about versions that became listed while the project was scheduled and therefore hidden. */
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
    await announceVersion(tx, { versionId: id, project, status: 'listed', at })
    await recordVersionStatus(tx, { project, versionId: id, from: 'scheduled', to: 'listed' })
  }
}

/**
 * Releases a version with its scheduled time as its publication date, and returns whether it was due. If its files are
 * not scanned yet, the version stays hidden until the scan.
 */
export async function releaseVersion(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    const wanted = locked?.version.requested_status ?? null
    if (locked === undefined || wanted === null || !isDue(locked.version, deps.now())) return false
    const { version } = locked
    const datePublished = version.scheduled_at ?? new Date(deps.now())
    const gate = { scanner: deps.config.scanner, now: deps.now() }
    await recordAudit(tx, {
      action: 'version.status_changed',
      actor: SYSTEM,
      subject: { kind: 'version', id },
      details: { from: version.status, to: wanted },
    })
    const admitted = await admitStatus(tx, { id, from: version.status, wanted }, gate)
    if (admitted.status === wanted) {
      await showVersion(tx, changed, locked, { status: wanted, datePublished, isNews: true, now: deps.now() })
      return true
    }
    const held = { ...admitted, date_published: datePublished }
    await tx.updateTable('version').set(held).where('id', '=', id).execute()
    changed.add('version', id)
    return true
  })
}
