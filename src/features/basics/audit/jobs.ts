// The job that deletes old audit entries, and the IP addresses of newer ones.

import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { allowMaintenance, deleteEntries, dropAddresses } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'audit.expire': NoPayload
  }
}

/** Maximum number of rows in a transaction. */
const BATCH = 5_000

type RetentionDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

export const auditJobs = (deps: RetentionDeps) => ({
  // Idempotent: a second run finds nothing.
  'audit.expire': job({ daily: '04:13' }, async (_payload, signal) => {
    const { retentionDays, addressDays } = deps.config.audit
    const before = (days: number): Date => new Date(deps.now() - days * DAY_MS)
    if (retentionDays > 0) await repeat(deps, signal, (tx) => deleteEntries(tx, before(retentionDays), BATCH))
    await repeat(deps, signal, (tx) => dropAddresses(tx, before(addressDays), BATCH))
  }),
})

async function repeat(deps: RetentionDeps, signal: AbortSignal, step: (tx: Tx) => Promise<number>): Promise<void> {
  let count = BATCH
  while (count === BATCH) {
    signal.throwIfAborted()
    count = await transaction(deps, async (tx) => {
      await allowMaintenance(tx)
      return step(tx)
    })
  }
}
