// Numbers that stand beside things on many pages. They are a minute old at most, like the times that pages say, so that
// they cost a page nothing; the pages that they lead to count exactly.
import { LRUCache } from 'lru-cache'
import { countDependents } from '#features/catalogue/versions/dependencies/dependents.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

const KEPT_MAX = 10_000

export type Figures = {
  /** How many projects use this one. */
  dependents(projectId: string): Promise<number>
}

export function createFigures({ dbRead, now }: Pick<Deps, 'dbRead' | 'now'>): Figures {
  const counted = new LRUCache<string, number>({
    max: KEPT_MAX,
    ttl: MINUTE_MS,
    ttlResolution: 0,
    perf: { now },
    // Concurrent requests for the same wait for one count.
    fetchMethod: (projectId) => countDependents(dbRead, projectId),
  })
  return { dependents: async (projectId) => (await counted.fetch(projectId)) ?? 0 }
}
