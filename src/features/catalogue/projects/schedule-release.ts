// Enqueues the job that releases a scheduled project or version. The sweep that runs every minute releases what such a
// job missed.
import { validationError } from '#lib/errors.ts'
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

type SchedulePatch = { scheduled_at?: string | null; requested_status?: unknown }

/** Returns the time of a patch that sets the status `scheduled`. @throws ApiError `validation_error`. */
export function parseSchedule(patch: SchedulePatch, now: number): Date {
  if (patch.scheduled_at == null) throw validationError('scheduled_at', 'is required with the status scheduled')
  const at = Date.parse(patch.scheduled_at)
  if (!Number.isFinite(at) || at <= now) throw validationError('scheduled_at', 'must be a time in the future')
  return new Date(at)
}

/** @throws ApiError `validation_error` if a patch that does not set `scheduled` contradicts the status of the row. */
export function checkKeptSchedule(patch: SchedulePatch, row: { status: string }): void {
  if (patch.scheduled_at != null) {
    throw validationError('scheduled_at', 'can be set only together with the status scheduled')
  }
  if (row.status === 'scheduled' && patch.requested_status === null) {
    throw validationError('requested_status', 'cannot be null while the status is scheduled')
  }
}
