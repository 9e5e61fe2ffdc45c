// The jobs that measure the storage and delete old figures.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { HOURS_RETAINED_MS, MINUTES_RETAINED_MS } from './figures/periods.ts'
import { deleteOldFigures } from './figures/queries.ts'
import { DELIVERIES_RETAINED_MS, deleteOldDeliveries } from './mail/queries.ts'
import { type MeasureDeps, recordMeasure } from './storage/measure-storage.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'overview.expire': NoPayload
    'storage.measure': NoPayload
  }
}

export const overviewJobs = (deps: MeasureDeps & Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'overview.expire': job({ hourly: 57 }, async () => {
    const ago = (ms: number) => new Date(deps.now() - ms)
    await deleteOldFigures(deps.db, { minute: ago(MINUTES_RETAINED_MS), hour: ago(HOURS_RETAINED_MS) })
    await deleteOldDeliveries(deps.db, ago(DELIVERIES_RETAINED_MS))
  }),

  // Idempotent: a second run replaces the measurement of the day.
  'storage.measure': job({ daily: '02:33' }, (_payload, signal) => recordMeasure(deps, signal)),
})
