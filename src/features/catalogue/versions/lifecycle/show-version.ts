// Makes versions visible and announces them: after publication, an edit, a scheduled release or a scan.

import { isPublicVersionStatus, type VersionStatus } from '#features/basics/access/version-status.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { type ProjectRow, touchProject } from '#features/catalogue/projects/queries.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import type { LockedVersion } from '../queries.ts'
import { HELD } from './scan-gate.ts'

/** If `status` is listed, sets the project's `updated`; if the project is public too, notifies its followers once. */
export async function announceVersion(
  tx: Tx,
  {
    versionId,
    project,
    status,
    at,
  }: { versionId: string; project: Pick<ProjectRow, 'id' | 'status'>; status: string; at: Date },
): Promise<void> {
  if (status !== 'listed') return
  await touchProject(tx, project.id, at)
  if (!isPublicStatus(project.status)) return
  const jobKey = `notify-followers:${versionId}`
  await enqueue(tx, 'versions.notify-followers', { version_id: versionId }, { jobKey })
}

/**
 * Records the event of a version that takes another status: its publication if it becomes listed in a public project,
 * otherwise its change.
 */
export async function recordVersionStatus(
  tx: Tx,
  {
    project,
    versionId,
    from,
    to,
    isNews = true,
  }: { project: Pick<ProjectRow, 'id' | 'status'>; versionId: string; from: string; to: string; isNews?: boolean },
): Promise<void> {
  if (from === to) return
  const isPublished = isNews && to === 'listed' && from !== 'archived' && isPublicStatus(project.status)
  const kind = isPublished ? 'version.published' : 'version.updated'
  await recordVersionEvent(tx, kind, { projectId: project.id, versionId }, { from, to })
}

export type Showing = {
  /** The new status. */
  status: VersionStatus
  /** New publication date. Default: unchanged. */
  datePublished?: Date
  /** Whether followers are notified when it becomes listed. */
  isNews: boolean
  now: number
}

/** Sets a status that the version waited for, updates the project and the caches, and announces the version. */
export async function showVersion(
  tx: Tx,
  changed: ChangeSet,
  { project, version }: LockedVersion,
  { status, datePublished, isNews, now }: Showing,
): Promise<void> {
  const at = new Date(now)
  await tx
    .updateTable('version')
    .set({
      status,
      requested_status: null,
      scheduled_at: null,
      ...(datePublished === undefined ? {} : { date_published: datePublished }),
    })
    .where('id', '=', version.id)
    .execute()
  if (isPublicVersionStatus(status)) await touchProject(tx, project.id, at)
  if (isNews) await announceVersion(tx, { versionId: version.id, project, status, at })
  await recordVersionStatus(tx, { project, versionId: version.id, from: version.status, to: status, isNews })
  changed.add('version', version.id)
  changed.add('project', project.id)
}

/** Gives a held version its requested status. Other versions stay unchanged. */
export async function releaseHeldVersion(
  tx: Tx,
  changed: ChangeSet,
  locked: LockedVersion,
  { isNews, now }: Pick<Showing, 'isNews' | 'now'>,
): Promise<void> {
  const { status, requested_status: wanted } = locked.version
  if (status === HELD && wanted !== null) await showVersion(tx, changed, locked, { status: wanted, isNews, now })
}
