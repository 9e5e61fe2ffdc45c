// The downloads and views of the last 30 days, by day and by project, and their sums in the 30 days before. The first day
// begins at midnight UTC and the last one is today, as on the analytics pages.

import { hash } from 'node:crypto'
import { listReadableProjects, runQueryOver } from '#features/reading/analytics/query/run-query.ts'
import { MIB } from '#lib/text/sizes.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { MetricKey } from '#ports/analytics-store/metrics.ts'
import type { Point } from '#ports/analytics-store/points.ts'
import { type SliceGrid, sliceGrid } from '#ports/analytics-store/slices.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { sumOf } from '../analytics/metrics.ts'

const DAYS = 30
/** The page does not wait longer for the analytics store. */
const PATIENCE_MS = 300
/** Approximate size of a count in memory. */
const POINT_BYTES = 100

/** Downloads of each day, oldest first, by project ID. */
export type ProjectTrends = ReadonlyMap<string, readonly number[]>

export type Trend = { days: readonly number[]; now: number; before: number }
export type Trends = { downloads: Trend; views: Trend; byProject: ProjectTrends }

/** Counts these projects, or all projects of the user; undefined if the analytics store does not respond in time. */
export async function loadTrends(request: OwnRequest, projectIds?: readonly string[]): Promise<Trends | undefined> {
  const { now } = request.page
  const [current, previous] = [gridOf(now, DAYS, 'days'), gridOf(now, 2 * DAYS, 'total')]
  const metrics = ['project_downloads', 'project_views'] as const
  const projects = await listReadableProjects(request.deps.db, request.viewer, projectIds)
  const ids = projects.map(({ id }) => id)
  const counted = await patiently(request, { name: 'all', ids }, (count) =>
    Promise.all([count(current, metrics, ids), count(previous, metrics, ids)]),
  )
  if (counted === undefined) return undefined
  const [days = [], [before = []] = []] = counted
  const trendOf = (name: 'downloads' | 'views'): Trend => {
    const sums = days.map((points) => sumOf(points, name))
    return { days: sums, now: sums.reduce((all, sum) => all + sum, 0), before: sumOf(before, name) }
  }
  return { downloads: trendOf('downloads'), views: trendOf('views'), byProject: byProject(days) }
}

/** Counts the downloads of these projects; empty if the analytics store does not respond in time. */
export async function loadProjectTrends(request: OwnRequest, ids: readonly string[]): Promise<ProjectTrends> {
  if (ids.length === 0) return new Map()
  const projects = await listReadableProjects(request.deps.db, request.viewer, ids)
  const grid = gridOf(request.page.now, DAYS, 'days')
  const sources = projects.map(({ id }) => id)
  const counted = await patiently(request, { name: 'downloads', ids: sources }, async (count) => [
    await count(grid, ['project_downloads'], sources),
  ])
  return byProject(counted?.[0] ?? [])
}

/** Returns the 30 days that begin `daysAgo` days before tomorrow: as days, or in total, as far into the last day as today. */
function gridOf(now: number, daysAgo: number, parts: 'days' | 'total'): SliceGrid {
  const startMs = (Math.floor(now / DAY_MS) + 1 - daysAgo) * DAY_MS
  const endMs = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS - (daysAgo - DAYS) * DAY_MS
  return sliceGrid(startMs, endMs, parts === 'days' ? { minutes: DAY_MS / MINUTE_MS } : { slices: 1 })
}

type Count = (grid: SliceGrid, metrics: readonly MetricKey[], sources: readonly string[]) => Promise<Point[][]>

const TRENDS = defineCache<RememberDefinition<readonly Point[][][]>>({
  name: 'account-trends',
  contains: 'Downloads and views of several projects by day',
  maxAgeMs: MINUTE_MS,
  maxBytes: 8 * MIB,
  sizeOf: (counted) => POINT_BYTES * counted.flat(2).length,
})

/**
 * Returns what `act` counts, at most a minute old; undefined if the queries fail or take too long. The counts depend on
 * `name`, the day and the projects alone.
 */
async function patiently(
  { deps, viewer, req, page }: OwnRequest,
  { name, ids }: { name: string; ids: readonly string[] },
  act: (count: Count) => Promise<Point[][][]>,
): Promise<readonly Point[][][] | undefined> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const count: Count = (grid, metrics, sources) => {
    const requests = metrics.map((metric) => ({ metric, bucketBy: [], filterBy: {} }))
    return runQueryOver(deps, {
      query: { grid, metrics: requests },
      sourcesFor: () => sources,
      signal,
      caller: viewer.caller,
    })
  }
  try {
    const key = `${name} ${Math.floor(page.now / DAY_MS)} ${hash('sha256', ids.toSorted().join())}`
    return await deps.cache.remember(TRENDS).get(key, () => act(count))
  } catch (error) {
    req.log.warn({ err: error }, 'The dashboard shows no trends, because the analytics store did not respond')
    return undefined
  }
}

function byProject(days: readonly (readonly Point[])[]): ProjectTrends {
  const trends = new Map<string, number[]>()
  for (const [day, points] of days.entries())
    for (const { source_project, downloads } of points) {
      if (downloads === undefined) continue
      const id = String(source_project)
      const trend = trends.get(id) ?? new Array<number>(days.length).fill(0)
      trend[day] = Number(downloads)
      trends.set(id, trend)
    }
  return trends
}
