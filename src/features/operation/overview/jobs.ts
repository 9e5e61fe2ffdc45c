// The jobs that measure the storage, check the instance, and delete old figures.
import { job } from '#platform/jobs/job.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { type ListTarget, listBackupTarget, verifyTargetBackup } from './backups/watch-target.ts'
import { checkCertificate } from './checks/check-certificate.ts'
import { readReleases } from './checks/read-releases.ts'
import { HOURS_RETAINED_MS, MINUTES_RETAINED_MS } from './figures/periods.ts'
import { deleteOldFigures } from './figures/queries.ts'
import { DELIVERIES_RETAINED_MS, deleteOldDeliveries } from './mail/queries.ts'
import { type MeasureDeps, recordMeasure } from './storage/measure-storage.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'backups.list': NoPayload
    'backups.verify': { name: string }
    'overview.check-certificate': NoPayload
    'overview.expire': NoPayload
    'overview.read-releases': NoPayload
    'storage.measure': NoPayload
  }
}

export const overviewJobs = (deps: MeasureDeps & Pick<Deps, 'commands' | 'log'>, list: ListTarget) => ({
  // Idempotent: each run replaces the list.
  'backups.list': job({ hourly: 27 }, () => listBackupTarget(deps, list)),
  // Not idempotent, but harmless: a second run verifies the backup again.
  'backups.verify': ({ name }: Jobs['backups.verify'], signal: AbortSignal): Promise<void> =>
    verifyTargetBackup(deps, { name, signal }),

  // Idempotent: each run replaces the result of the run before.
  'overview.check-certificate': job({ everyMinutes: 360, atMinute: 19 }, (_payload, signal) =>
    checkCertificate(deps, signal),
  ),
  'overview.read-releases': job({ daily: '05:49' }, (_payload, signal) => readReleases(deps, signal)),

  // Idempotent: a second run finds nothing.
  'overview.expire': job({ hourly: 57 }, async () => {
    const ago = (ms: number) => new Date(deps.now() - ms)
    await deleteOldFigures(deps.db, { minute: ago(MINUTES_RETAINED_MS), hour: ago(HOURS_RETAINED_MS) })
    await deleteOldDeliveries(deps.db, ago(DELIVERIES_RETAINED_MS))
  }),

  // Idempotent: a second run replaces the measurement of the day.
  'storage.measure': job({ daily: '02:33' }, (_payload, signal) => recordMeasure(deps, signal)),
})
