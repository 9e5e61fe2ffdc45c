// Removal of pictures that no text uses.

import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { dropWaitingImages } from './queries.ts'

const WAITING_MS_MAX = DAY_MS
const BATCH = 1_000
/** At most a hundred thousand in one run. */
const BATCHES_MAX = 100

export const contentImageJobs = (deps: Pick<Deps, 'db' | 'cache' | 'now'>) => ({
  // Idempotent: it removes what is there, and rows and bytes go by one transaction.
  'images.sweep': async (_payload: Record<string, never>, signal: AbortSignal): Promise<void> => {
    const before = new Date(deps.now() - WAITING_MS_MAX)
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      signal.throwIfAborted()
      if ((await transaction(deps, (tx) => dropWaitingImages(tx, { before, limit: BATCH }))) < BATCH) return
    }
  },
})
