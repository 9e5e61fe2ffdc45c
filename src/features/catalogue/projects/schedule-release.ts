// Enqueues the job that releases a scheduled project or version. The sweep that runs every minute releases what such a
// job missed.
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'

/** Delay after the scheduled time, so that a worker whose clock is slightly slow finds the release due. */
const MARGIN_MS = 1_000

/** Enqueues the job, which replaces an earlier job for the same project or version. */
export async function scheduleRelease(
  tx: Tx,
  subject: { project_id: string } | { version_id: string },
  at: Date,
): Promise<void> {
  const runAt = new Date(at.getTime() + MARGIN_MS)
  if ('project_id' in subject) {
    await enqueue(tx, 'projects.release', subject, { runAt, jobKey: `release-project:${subject.project_id}` })
  } else {
    await enqueue(tx, 'versions.release', subject, { runAt, jobKey: `release-version:${subject.version_id}` })
  }
}
