// Background jobs of the change feed.

import { DAY_MS } from '#lib/time.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { forgetRemovals, numberChanges } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'changes.number': NoPayload
    'changes.forget': NoPayload
  }
}

export const changeJobs = ({ db, now, config }: Pick<Deps, 'db' | 'now' | 'config'>) => ({
  // Idempotent: readers number changes as well. Without readers, notes would accumulate.
  'changes.number': job({ everyMinutes: 1 }, async (_payload, signal) => {
    while (!signal.aborted && (await numberChanges(db)));
  }),
  // Idempotent: a second run finds nothing.
  'changes.forget': job({ daily: '04:33' }, () =>
    forgetRemovals(db, new Date(now() - config.changes.keptDays * DAY_MS)),
  ),
})
