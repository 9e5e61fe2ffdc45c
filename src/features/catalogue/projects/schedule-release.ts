// A job for the moment at which a scheduled project or version comes out. The schedule that runs each minute finds what
// such a job has missed.
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'

/** Past the moment itself, so that a process whose clock is a little behind finds it due. */
const MARGIN_MS = 1_000

/** A later call for the same thing replaces the earlier one. */
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
