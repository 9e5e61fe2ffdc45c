// What follows when a version becomes visible: because it was published or edited, because its date has come, or because
// its files were judged.

import { isPublicVersionStatus, type VersionStatus } from '#features/basics/access/version-status.ts'
import { type ProjectRow, touchProject } from '#features/catalogue/projects/queries.ts'
import { isPublicStatus } from '#lib/project-status.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { LockedVersion } from '../queries.ts'
import { HELD } from './scan-gate.ts'

/**
 * What follows when a version becomes listed: the project's `updated` moves, and followers of a visible project are
 * notified, once for each version.
 */
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

export type Showing = {
  /** The status that it waited for. */
  status: VersionStatus
  /** The time from which it counts as published; absent: as before. */
  datePublished?: Date
  /** Whether followers are notified when it becomes listed. */
  isNews: boolean
  now: number
}

/** Sets the status that a version waited for, with all that follows: the project's `updated`, followers, caches. */
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
  changed.add('version', version.id)
  changed.add('project', project.id)
}

/** A version that was held for its verdict takes the status it was to have; others stay as they are. */
export async function releaseHeldVersion(
  tx: Tx,
  changed: ChangeSet,
  locked: LockedVersion,
  { isNews, now }: Pick<Showing, 'isNews' | 'now'>,
): Promise<void> {
  const { status, requested_status: wanted } = locked.version
  if (status === HELD && wanted !== null) await showVersion(tx, changed, locked, { status: wanted, isNews, now })
}
