// Background work of downloads.

import type { Jobs } from '#platform/jobs/queue.ts'
import { StoreHeldError } from '#ports/analytics-store/analytics-store.ts'
import type { Deps } from '#ports/deps.ts'
import { reconcileDownloads } from './reconcile-downloads.ts'

type ReconcileDeps = Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'analytics'>

export const downloadJobs = ({ db, cache, log, metrics, analytics }: ReconcileDeps) => ({
  /** A second run corrects what the first has left, which is nothing. */
  'downloads.reconcile': async (_payload: Jobs['downloads.reconcile'], signal: AbortSignal): Promise<void> => {
    const isHeldElsewhere = await analytics.check().then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreHeldError) return true
        throw error
      },
    )
    const drift = isHeldElsewhere ? undefined : await reconcileDownloads({ db, cache, log, store: analytics }, signal)
    if (drift === undefined) {
      log.warn('Download counters were not reconciled: this process does not hold the store they follow')
      return
    }
    metrics.downloadDrift.set({ of: 'project' }, drift.projects)
    metrics.downloadDrift.set({ of: 'version' }, drift.versions)
    if (drift.projects + drift.versions > 0) log.warn({ drift }, 'Download counters differed from events')
  },
})
