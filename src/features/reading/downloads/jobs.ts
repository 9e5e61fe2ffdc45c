// The background job of downloads.

import { Gauge } from 'prom-client'
import { job } from '#platform/jobs/job.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import { StoreInUseError } from '#ports/analytics-store/analytics-store.ts'
import type { Deps } from '#ports/deps.ts'
import { reconcileDownloads } from './reconcile-downloads.ts'

const driftOf = defineMetrics(
  (registers) =>
    new Gauge({
      name: 'depot_download_drift',
      help: 'Difference between download counters and download events at the last reconciliation, by counter',
      labelNames: ['of'] as const,
      registers,
    }),
)

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'downloads.reconcile': NoPayload
  }
}

type ReconcileDeps = Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'analytics'>

export const downloadJobs = ({ db, cache, log, metrics, analytics }: ReconcileDeps) => ({
  /** Compares the counters with the events and corrects them. Safe to repeat. */
  'downloads.reconcile': job({ daily: '03:43' }, async (_payload, signal) => {
    const isHeldElsewhere = await analytics.check().then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreInUseError) return true
        throw error
      },
    )
    const drift = isHeldElsewhere ? undefined : await reconcileDownloads({ db, cache, log, store: analytics }, signal)
    if (drift === undefined) {
      log.warn(
        'Could not reconcile the download counters: they follow an analytics store that this process does not own',
      )
      return
    }
    driftOf(metrics).set({ of: 'project' }, drift.projects)
    driftOf(metrics).set({ of: 'version' }, drift.versions)
    if (drift.projects + drift.versions > 0)
      log.warn({ drift }, 'Corrected download counters that differed from the events')
  }),
})
