// Keeps the rows that the counts are made of few.
import type { Deps } from '#ports/deps.ts'
import { foldStatistics } from './queries.ts'

export const statisticsJobs = (deps: Pick<Deps, 'db'>) => ({
  // Idempotent: adding up changes no sum.
  'statistics.fold': async (): Promise<void> => {
    await foldStatistics(deps.db)
  },
})
