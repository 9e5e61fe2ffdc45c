// The job that deletes images that no text uses.

import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { dropUnclaimedImages } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'images.sweep': NoPayload
  }
}

const UNUSED_MS_MAX = DAY_MS
const BATCH = 1_000
/** Limits a run to 100,000 images. */
const BATCHES_MAX = 100

export const contentImageJobs = (deps: Pick<Deps, 'db' | 'cache' | 'now'>) => ({
  // Idempotent: each transaction deletes rows and schedules the deletion of their files.
  'images.sweep': job({ hourly: 37, changesContent: true }, async (_payload, signal) => {
    const before = new Date(deps.now() - UNUSED_MS_MAX)
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      signal.throwIfAborted()
      if ((await transaction(deps, (tx) => dropUnclaimedImages(tx, { before, limit: BATCH }))) < BATCH) return
    }
  }),
})
