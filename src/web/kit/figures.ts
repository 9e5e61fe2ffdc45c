// Counts that many pages show. They are cached for a minute; the pages that list the counted items count exactly.
import { LRUCache } from 'lru-cache'
import { countDependents } from '#features/catalogue/versions/dependencies/dependents.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

export type Figures = {
  /** Returns the number of projects that depend on a project. */
  dependents(projectId: string): Promise<number>
}

export function createFigures({ dbRead, now }: Pick<Deps, 'dbRead' | 'now'>): Figures {
  const cache = new LRUCache<string, number>({
    max: 10_000,
    ttl: MINUTE_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: (projectId) => countDependents(dbRead, projectId),
  })
  return { dependents: async (projectId) => (await cache.fetch(projectId)) ?? 0 }
}
