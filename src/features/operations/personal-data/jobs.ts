// Deletes accounts for good, once the time in which that can be undone is over.
import { listDueDeletions } from '#features/people/accounts/deletion/queries.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteDueAccount } from './delete-account.ts'

/** Accounts of one run; the next takes the rest. */
const BATCH = 200

export const personalDataJobs = (deps: Deps) => ({
  /** One transaction for each account; one that fails holds up no other, and the next run tries it again. */
  'accounts.delete-due': async (_payload: Jobs['accounts.delete-due'], signal: AbortSignal): Promise<void> => {
    const failures: unknown[] = []
    for (const id of await listDueDeletions(deps.db, new Date(deps.now()), BATCH)) {
      signal.throwIfAborted()
      await deleteDueAccount(deps, id).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} accounts could not be deleted`)
  },
})
