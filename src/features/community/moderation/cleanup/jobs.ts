// Background job that makes cleanups of accounts final.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { eraseLeftOrganizations, finishCleanup, listFinalCleanups } from './finish-cleanup.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'cleanups.finish': NoPayload
  }
}

/** Maximum number of cleanups per run. */
const BATCH = 20

export const cleanupJobs = (deps: Deps) => ({
  /** A failure does not affect other cleanups, and the next run repeats it. */
  'cleanups.finish': job({ everyMinutes: 5, changesContent: true }, async (_payload, signal) => {
    const failures: unknown[] = []
    for (const id of await listFinalCleanups(deps.db, deps.now(), BATCH)) {
      signal.throwIfAborted()
      await finishCleanup(deps, id).catch((error: unknown) => failures.push(error))
    }
    await eraseLeftOrganizations(deps)
    if (failures.length > 0) throw new AggregateError(failures, `Could not finish cleanups (${failures.length})`)
  }),
})
