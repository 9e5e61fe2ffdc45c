// Jobs for events that a command cannot store or delete, because a running server owns the analytics store.
import { setImmediate } from 'node:timers/promises'
import { demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { asSeeded } from '#demo/catalogue/new-projects.ts'
import { DEMO_SEED, findDemo } from '#demo/items.ts'
import { EVENTS_LOCK, withDemoLock } from '#demo/lock.ts'
import { forgetEvents } from '#demo/remove/forget-events.ts'
import { EVENT_PROJECTS, seedEvents } from '#demo/seed/events.ts'
import type { Indexed } from '#demo/seed/projects.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

type JobDeps = Pick<Deps, 'db' | 'pool' | 'cache' | 'analytics' | 'taxonomy'>

export const seedJobs = (deps: JobDeps) => ({
  /** Idempotent: stores only missing events. */
  'seed.store-events': async ({ projects }: Jobs['seed.store-events'], signal: AbortSignal): Promise<void> => {
    await withDemoLock(deps, EVENTS_LOCK, () => storeEvents(deps, projects, signal))
  },
  /** Deletes the events of projects that a command removed while the server owned the store. */
  'seed.forget-events': () => withDemoLock(deps, EVENTS_LOCK, () => forgetEvents(deps)),
})

async function storeEvents(deps: JobDeps, projects: number, signal: AbortSignal): Promise<void> {
  const demo = await findDemo(deps.db)
  if (demo === undefined) return
  const { until } = demo
  const catalogue = demoCatalogue({ taxonomy: deps.taxonomy, projects, seed: DEMO_SEED, until })
  let group: Indexed[] = []
  let index = 0
  for (const demo of catalogue.projects) {
    group.push({ project: asSeeded(demo, index, until), index })
    index += 1
    if (group.length === EVENT_PROJECTS) {
      await seedEvents(deps, group, { seed: DEMO_SEED, until })
      group = []
    }
    signal.throwIfAborted()
    // Lets the server handle requests.
    await setImmediate()
  }
  await seedEvents(deps, group, { seed: DEMO_SEED, until })
}
