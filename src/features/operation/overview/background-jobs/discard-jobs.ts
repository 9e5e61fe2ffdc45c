import type { Actor } from '#features/basics/audit/actor.ts'
import { deleteJobs } from '#platform/jobs/queue-state.ts'
import type { Deps } from '#ports/deps.ts'
import { type ChosenJobs, changeJobs } from './retry-jobs.ts'

/**
 * Deletes a failed job, or all failed jobs of a task, without running them. Returns the number of jobs.
 * @throws ApiError 404 if the job does not exist, `conflict` if it has not failed
 */
export function discardJobs(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor, chosen: ChosenJobs): Promise<number> {
  return changeJobs(deps, { actor, chosen, action: 'job.discarded', change: deleteJobs })
}
