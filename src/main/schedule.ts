// When each scheduled job runs.
import type { Schedule } from '#platform/jobs/schedule.ts'

/** In minutes. */
const HOUR = 60
const DAY = 24 * HOUR

/** Scheduled jobs (UTC). Of several processes, one enqueues each job. */
export const SCHEDULE: Schedule = [
  { job: 'accounts.expire', everyMinutes: HOUR, atMinute: 17 },
  { job: 'accounts.delete-due', everyMinutes: HOUR, atMinute: 7 },
  { job: 'oauth.expire', everyMinutes: HOUR, atMinute: 47 },
  { job: 'files.sweep', everyMinutes: HOUR, atMinute: 27 },
  { job: 'audit.expire', everyMinutes: DAY, atMinute: 4 * HOUR + 13 },
  { job: 'dependencies.notify', everyMinutes: HOUR, atMinute: 11 },
  { job: 'downloads.reconcile', everyMinutes: DAY, atMinute: 3 * HOUR + 43 },
  { job: 'statistics.fold', everyMinutes: 5 },
  { job: 'changes.number', everyMinutes: 1 },
  { job: 'locks.forget', everyMinutes: DAY, atMinute: 4 * HOUR + 43 },
  { job: 'changes.forget', everyMinutes: DAY, atMinute: 4 * HOUR + 33 },
  { job: 'webhooks.expire', everyMinutes: HOUR, atMinute: 42 },
  { job: 'events.expire', everyMinutes: DAY, atMinute: 4 * HOUR + 53 },
  { job: 'overview.expire', everyMinutes: HOUR, atMinute: 57 },
  { job: 'storage.measure', everyMinutes: DAY, atMinute: 2 * HOUR + 33 },
  { job: 'images.sweep', everyMinutes: HOUR, atMinute: 37 },
  { job: 'decisions.announce', everyMinutes: 1 },
  { job: 'versions.expire-drafts', everyMinutes: HOUR, atMinute: 57 },
  { job: 'uploads.expire', everyMinutes: HOUR, atMinute: 52 },
  { job: 'releases.sweep', everyMinutes: 1 },
  { job: 'scans.judge', everyMinutes: 1 },
  { job: 'publishers.check', everyMinutes: 1 },
  { job: 'publishers.expire', everyMinutes: HOUR, atMinute: 21 },
]
