// Background jobs of events.

import { DAY_MS } from '#lib/time.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'events.expire': NoPayload
  }
}

/** Deliveries, which refer to events, are kept for a shorter time. */
const KEPT_DAYS = 30
/** Maximum number of rows in a statement. */
const BATCH = 5_000

export const eventJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'events.expire': job({ daily: '04:53' }, async (_payload, signal) => {
    const before = new Date(now() - KEPT_DAYS * DAY_MS)
    for (let count = BATCH; count === BATCH && !signal.aborted; ) {
      const old = db.selectFrom('event').select('id').where('at', '<', before).limit(BATCH)
      const { numDeletedRows } = await db.deleteFrom('event').where('id', 'in', old).executeTakeFirstOrThrow()
      count = Number(numDeletedRows)
    }
  }),
})
