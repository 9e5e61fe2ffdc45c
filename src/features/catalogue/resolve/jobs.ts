// Background jobs of locks.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { forgetLocks } from './locks/store-lock.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'locks.forget': NoPayload
  }
}

export const resolveJobs = (deps: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'locks.forget': job({ daily: '04:43' }, () => forgetLocks(deps)),
})
