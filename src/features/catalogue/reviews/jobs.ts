// Background job that announces final decisions.

import { transaction } from '#platform/cache/transaction.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { announceDecision, listFinalDecisions, lockFinalDecision } from './decisions.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'decisions.announce': NoPayload
  }
}

/** Maximum number of decisions that one run announces. */
const ANNOUNCED_MAX = 1000

export const reviewJobs = (deps: Pick<Deps, 'db' | 'cache' | 'now' | 'log'>) => ({
  'decisions.announce': job({ everyMinutes: 1, changesContent: true }, async () => {
    const now = new Date(deps.now())
    for (const id of await listFinalDecisions(deps.db, now, ANNOUNCED_MAX)) {
      // A decision that fails must not block the others.
      await transaction(deps, async (tx, changed) => {
        const decision = await lockFinalDecision(tx, id, now)
        if (decision !== undefined) await announceDecision(tx, changed, decision)
      }).catch((error: unknown) =>
        deps.log.error(
          { err: error, project_id: id },
          'Could not announce a decision; the worker retries it in a minute',
        ),
      )
    }
  }),
})
