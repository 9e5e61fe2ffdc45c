// The job that keeps the cache of images of other hosts within its size.
import { Gauge } from 'prom-client'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { job } from '#platform/jobs/job.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteExternalImages, type Expired, listExpiredImages, measureExternalImages } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'external-images.sweep': NoPayload
  }
}

const UNUSED_MS_MAX = 30 * DAY_MS
const BATCH = 500
/** Limits a run to 100,000 images. */
const BATCHES_MAX = 200

const bytesOf = defineMetrics(
  (registers) =>
    new Gauge({
      name: 'depot_external_image_cache_bytes',
      help: 'Size of the cached images of other hosts, as the last cleaning measured it',
      registers,
    }),
)

type SweepDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'metrics'>

/** Returns images that the cache no longer needs, at most `limit`. */
export function listExpired(
  { db, config, now }: Omit<SweepDeps, 'cache' | 'metrics'>,
  limit: number,
): Promise<Expired[]> {
  const { cacheBytes } = config.externalImages
  return listExpiredImages(db, { cacheBytes, unusedSince: new Date(now() - UNUSED_MS_MAX), limit })
}

/** Deletes images that the cache no longer needs. */
export async function sweepExternalImages(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    signal.throwIfAborted()
    const ids = (await listExpired(deps, BATCH)).map(({ id }) => id)
    await transaction(deps, (tx) => deleteExternalImages(tx, ids))
    if (ids.length < BATCH) break
  }
  bytesOf(deps.metrics).set((await measureExternalImages(deps.db)).bytes)
}

export const externalImageJobs = (deps: SweepDeps) => ({
  // Idempotent: each transaction deletes rows and schedules the deletion of their files.
  'external-images.sweep': job({ hourly: 47, changesContent: true }, (_payload, signal) =>
    sweepExternalImages(deps, signal),
  ),
})
