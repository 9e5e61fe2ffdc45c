// Background jobs of the change feed.

import { DAY_MS } from '#lib/time.ts'
import type { NoPayload } from '#platform/jobs/queue.ts'
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
  'changes.number': async (_payload: NoPayload, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await numberChanges(db)));
  },
  // Idempotent: a second run finds nothing.
  'changes.forget': (): Promise<void> => forgetRemovals(db, new Date(now() - config.changes.keptDays * DAY_MS)),
})
