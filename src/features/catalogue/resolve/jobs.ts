// Background jobs of locks.
import type { Deps } from '#ports/deps.ts'
import { forgetLocks } from './locks/store-lock.ts'

export const resolveJobs = (deps: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'locks.forget': (): Promise<void> => forgetLocks(deps),
})
