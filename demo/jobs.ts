// Jobs for events that a command cannot store or delete, because a running server owns the analytics store.
import { withDemoLock } from '#demo/lock.ts'
import { forgetEvents } from '#demo/remove/forget-events.ts'
import { type EventDeps, storeEvents } from '#demo/seed/events.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'seed.forget-events': NoPayload
    'seed.store-events': { projects: number }
  }
}

export const seedJobs = (deps: EventDeps & Pick<Deps, 'pool'>) => ({
  /** Idempotent: stores only missing events. */
  'seed.store-events': async ({ projects }: Jobs['seed.store-events'], signal: AbortSignal): Promise<void> => {
    await withDemoLock(deps, () => storeEvents(deps, projects, signal))
  },
  /** Deletes the events of projects that a command removed while the server owned the store. */
  'seed.forget-events': () => withDemoLock(deps, () => forgetEvents(deps)),
})
