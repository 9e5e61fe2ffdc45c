import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { type JobFilter, lockRetryableJobs, rescheduleJobs } from '#platform/jobs/queue-state.ts'
import type { Deps } from '#ports/deps.ts'
import { explainUnchanged } from './queries.ts'

/** Maximum number of jobs of a task that one request changes. */
export const JOBS_MAX = 10_000

/** One job, or the failed jobs of a task. */
export type ChosenJobs = { id: string } | { task: string }

export const filterOf = (chosen: ChosenJobs): JobFilter =>
  'id' in chosen ? chosen : { tasks: [chosen.task], state: 'failed' }

/**
 * Runs a failed job, or all failed jobs of a task, again as soon as possible. Returns the number of jobs.
 * @throws ApiError 404 if the job does not exist, `conflict` if it has not failed
 */
export function retryJobs(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor, chosen: ChosenJobs): Promise<number> {
  return changeJobs(deps, { actor, chosen, action: 'job.retried', change: rescheduleJobs })
}

type JobChange = {
  actor: Actor
  chosen: ChosenJobs
  action: 'job.retried' | 'job.discarded'
  change: (tx: Tx, ids: readonly string[]) => Promise<void>
}

/** Changes jobs that are not running, and records it. */
export function changeJobs(
  deps: Pick<Deps, 'db' | 'cache'>,
  { actor, chosen, action, change }: JobChange,
): Promise<number> {
  return transaction(deps, async (tx) => {
    const ids = await lockRetryableJobs(tx, filterOf(chosen), JOBS_MAX)
    if (ids.length === 0 && 'id' in chosen) throw await explainUnchanged(tx, chosen.id)
    if (ids.length === 0) return 0
    await change(tx, ids)
    const details = 'id' in chosen ? { count: 1 } : { task: chosen.task, count: ids.length }
    const subject = 'id' in chosen ? { kind: 'job' as const, id: chosen.id } : undefined
    await recordAudit(tx, { action, actor, details, ...(subject === undefined ? {} : { subject }) })
    return ids.length
  })
}
