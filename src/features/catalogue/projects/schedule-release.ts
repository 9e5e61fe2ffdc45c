// Schedules the release of a project or version. The sweep that runs every minute releases what the job missed.
import Type from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'

/** Delay after the scheduled time, so that a worker whose clock is slightly slow finds the release due. */
const MARGIN_MS = 1_000

/** The body field `scheduled_at` of a project or a version. */
export const ScheduledAt = (noun: 'project' | 'version') =>
  Maybe(
    Type.String({
      format: 'date-time',
      maxLength: 64,
      description: `When the ${noun} takes the status \`requested_status\`; only with the status \`scheduled\``,
    }),
  )

type Schedule<Status> = { scheduled_at?: string | null; requested_status?: Status | null }

/**
 * Enqueues the release of a patch that sets the status `scheduled`, replacing an earlier job, and returns the columns.
 * @throws ApiError `validation_error` unless the patch has a future time, and the patch or the row the status to take then.
 */
export async function scheduleRelease<Status>(
  tx: Tx,
  subject: { project_id: string } | { version_id: string },
  { patch, row, now }: { patch: Schedule<Status>; row: { requested_status: Status | null }; now: number },
): Promise<{ scheduled_at: Date; requested_status: Status }> {
  const next = patch.requested_status === undefined ? row.requested_status : patch.requested_status
  if (next === null) throw validationError('requested_status', 'is required with the status scheduled')
  if (patch.scheduled_at == null) throw validationError('scheduled_at', 'is required with the status scheduled')
  const at = Date.parse(patch.scheduled_at)
  if (!Number.isFinite(at) || at <= now) throw validationError('scheduled_at', 'must be a time in the future')
  const runAt = new Date(at + MARGIN_MS)
  if ('project_id' in subject) {
    await enqueue(tx, 'projects.release', subject, { runAt, jobKey: `release-project:${subject.project_id}` })
  } else {
    await enqueue(tx, 'versions.release', subject, { runAt, jobKey: `release-version:${subject.version_id}` })
  }
  return { scheduled_at: new Date(at), requested_status: next }
}

/** @throws ApiError `validation_error` if a patch that does not set `scheduled` contradicts the status of the row. */
export function checkKeptSchedule(patch: Schedule<unknown>, row: { status: string }): void {
  if (patch.scheduled_at != null)
    throw validationError('scheduled_at', 'can be set only together with the status scheduled')
  if (row.status === 'scheduled' && patch.requested_status === null)
    throw validationError('requested_status', 'cannot be null while the status is scheduled')
}
