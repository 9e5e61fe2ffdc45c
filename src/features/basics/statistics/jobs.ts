// The job that compacts the rows behind the catalogue's counts.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { foldStatistics } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'statistics.fold': NoPayload
  }
}

export const statisticsJobs = (deps: Pick<Deps, 'db'>) => ({
  // Idempotent: it does not change the sums.
  'statistics.fold': job({ everyMinutes: 5 }, async () => {
    await foldStatistics(deps.db)
  }),
})
