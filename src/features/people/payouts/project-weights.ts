// The weight of each project on a day: its monetized views and its downloads by signed-in users.

import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { type AnalyticsStore, SOURCES_MAX } from '#ports/analytics-store/analytics-store.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'

const WEIGHTED_METRICS = ['project_views', 'project_downloads'] as const

export type WeightedProject = { id: string; status: string; monetization_status: string; weight: number }

/** Returns the projects with a weight above 0 on the UTC day that begins at `day`, ordered by ID. */
export async function listProjectWeights(
  { db, analytics }: { db: Db; analytics: AnalyticsStore },
  day: number,
): Promise<WeightedProject[]> {
  const grid = sliceGrid(day, day + DAY_MS, { slices: 1 })
  const weighted: WeightedProject[] = []
  for (let after = ''; ; ) {
    const projects = await db
      .selectFrom('project')
      .select(['id', 'status', 'monetization_status'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(SOURCES_MAX)
      .execute()
    const last = projects.at(-1)
    if (last === undefined) return weighted
    after = last.id
    const sources = projects.map(({ id }) => id)
    const filterBy = { monetized: [true] }
    const metrics = WEIGHTED_METRICS.map((metric) => ({ metric, bucketBy: [], filterBy, sources }))
    const weights = new Map<string, number>()
    for (const { slices } of await analytics.query({ grid, metrics })) {
      for (const point of slices[0] ?? []) {
        const id = String(point['source_project'])
        const count = Number(point['views'] ?? point['downloads'] ?? 0)
        weights.set(id, (weights.get(id) ?? 0) + count)
      }
    }
    for (const project of projects) {
      const weight = weights.get(project.id) ?? 0
      if (weight > 0) weighted.push({ ...project, weight })
    }
  }
}
