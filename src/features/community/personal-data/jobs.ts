// Deletes accounts permanently when their deletion is due.

import { listDueDeletions } from '#features/people/accounts/deletion/queries.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteDueAccount } from './delete-account.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'accounts.delete-due': NoPayload
  }
}

/** Maximum number of accounts per run. */
const BATCH = 200

export const personalDataJobs = (deps: Deps) => ({
  /** Uses one transaction per account. A failure does not affect other accounts, and the next run retries it. */
  'accounts.delete-due': job({ hourly: 7, changesContent: true }, async (_payload, signal) => {
    const failures: unknown[] = []
    for (const id of await listDueDeletions(deps.db, new Date(deps.now()), BATCH)) {
      signal.throwIfAborted()
      await deleteDueAccount(deps, id).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw new AggregateError(failures, `Could not delete accounts (${failures.length})`)
  }),
})
