// The handlers of all background jobs, and their schedule.
import { seedJobs } from '#demo/jobs.ts'
import { auditJobs } from '#features/basics/audit/jobs.ts'
import { contentImageJobs } from '#features/basics/content-images/jobs.ts'
import { eventJobs } from '#features/basics/events/jobs.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { statisticsJobs } from '#features/basics/statistics/jobs.ts'
import { followJobs } from '#features/catalogue/follows/jobs.ts'
import { releaseJobs } from '#features/catalogue/releases/jobs.ts'
import { resolveJobs } from '#features/catalogue/resolve/jobs.ts'
import { reviewJobs } from '#features/catalogue/reviews/jobs.ts'
import { scanJobs } from '#features/catalogue/scans/jobs.ts'
import { versionJobs } from '#features/catalogue/versions/jobs.ts'
import { personalDataJobs } from '#features/community/personal-data/jobs.ts'
import { publisherJobs } from '#features/community/trusted-publishers/jobs.ts'
import { webhookJobs } from '#features/exchange/webhooks/jobs.ts'
import { backupJobs } from '#features/operation/backup/jobs.ts'
import { overviewJobs } from '#features/operation/overview/jobs.ts'
import { accountJobs } from '#features/people/accounts/jobs.ts'
import { notificationJobs } from '#features/people/notifications/jobs.ts'
import { oauthJobs } from '#features/people/oauth/jobs.ts'
import { changeJobs } from '#features/reading/changes/jobs.ts'
import { downloadJobs } from '#features/reading/downloads/jobs.ts'
import type { Config } from '#platform/config/config.ts'
import type { JobName } from '#platform/jobs/queue.ts'
import type { Schedule } from '#platform/jobs/schedule.ts'
import type { JobHandlers } from '#platform/jobs/worker.ts'
import type { Deps } from '#ports/deps.ts'
import { runCommand } from './run-command.ts'

/** Jobs that change content. They skip their turn in read-only mode, and find their work again later. */
const WAITING_JOBS: readonly JobName[] = [
  'accounts.delete-due',
  'decisions.announce',
  'projects.release',
  'versions.release',
  'releases.sweep',
  'scans.judge',
  'images.sweep',
  'files.sweep',
  'versions.expire-drafts',
  'uploads.expire',
]

/** Returns the handlers of all jobs. A missing handler does not compile. */
export function jobHandlers(deps: Deps): JobHandlers {
  const handlers = allHandlers(deps)
  const waiting = WAITING_JOBS.map((name) => {
    const handle = handlers[name] as (payload: unknown, signal: AbortSignal) => Promise<void>
    return [
      name,
      async (payload: unknown, signal: AbortSignal) => {
        if (!(await getSettings(deps)).read_only) await handle(payload, signal)
      },
    ]
  })
  return { ...handlers, ...Object.fromEntries(waiting) }
}

function allHandlers(deps: Deps): JobHandlers {
  return {
    ...accountJobs(deps),
    ...auditJobs(deps),
    ...backupJobs(deps, runCommand),
    ...eventJobs(deps),
    ...oauthJobs(deps),
    ...personalDataJobs(deps),
    ...contentImageJobs(deps),
    ...downloadJobs(deps),
    ...versionJobs(deps),
    ...statisticsJobs(deps),
    ...changeJobs(deps),
    ...notificationJobs(deps),
    ...followJobs(deps),
    ...releaseJobs(deps),
    ...resolveJobs(deps),
    ...reviewJobs(deps),
    ...scanJobs(deps),
    ...publisherJobs(deps),
    ...webhookJobs(deps),
    ...overviewJobs(deps),
    ...seedJobs(deps),
  }
}

/** In minutes. */
const HOUR = 60
const DAY = 24 * HOUR

/** Jobs of every instance. */
const SCHEDULE: Schedule = [
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
  { job: 'publishers.expire', everyMinutes: HOUR, atMinute: 21 },
]

/** Returns the scheduled jobs (UTC). Of several processes, one enqueues each job. */
export function scheduleOf({ backup: { target } }: Pick<Config, 'backup'>): Schedule {
  if (target === undefined) return SCHEDULE
  const { everyMinutes, atMinute } = target
  return [...SCHEDULE, { job: 'backups.make', everyMinutes, atMinute }]
}
