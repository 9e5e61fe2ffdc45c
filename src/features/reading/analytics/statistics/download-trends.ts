// Computes weekly downloads of projects for lists, and which projects are trending. Includes only projects with public
// statistics, which is checked on each call because projects can change it.

import {
  type CachedProject,
  listVisibleProjects,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import type { Deps } from '#ports/deps.ts'
import { isSearchableStatus } from '#taxonomy/project-status.ts'

/** Number of full weeks before today for which a trend has a count. */
export const TREND_WEEKS = 12

const WEEKS = defineCache<RememberDefinition<readonly number[]>>({
  name: 'download-trend',
  contains: 'Weekly downloads of a project',
  maxAgeMs: HOUR_MS,
  maxBytes: 8 * MIB,
  sizeOf: (weeks) => 8 * weeks.length,
})
const TRENDING = defineCache<RememberDefinition<readonly string[]>>({
  name: 'trending-projects',
  contains: 'IDs of trending projects',
  maxAgeMs: HOUR_MS,
  maxBytes: MIB,
  isStaleAllowed: true,
  sizeOf: (ids) => 30 * ids.length,
})
/** Pause after the store failed. Lists are complete without trends. */
const FAILED_MS = MINUTE_MS
/** Number of the most downloaded projects that are checked for a trend. */
const CANDIDATES = 2000
const TRENDING_MAX = 50
/** Minimum number of downloads in the last week. */
const TREND_DOWNLOADS_MIN = 10

export type DownloadTrends = ReturnType<typeof createDownloadTrends>

/** The reader of the calling page: a cached page that shows a trend then depends on the project. */
type Reader = Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>

type TrendDeps = Pick<Deps, 'db' | 'dbRead' | 'cache' | 'taxonomy' | 'config' | 'analytics' | 'now' | 'log'>

const SHOWS_STATISTICS: DerivedForm<CachedProject, boolean> = {
  derive: (project) => isSearchableStatus(project.status) && viewOf(project).public_statistics,
  sizeOf: () => 8,
}

export function createDownloadTrends(deps: TrendDeps) {
  const { cache, now } = deps
  const weeklyDownloads = cache.remember(WEEKS)
  const trending = cache.remember(TRENDING)
  const counting = new Map<string, Promise<void>>()
  let failedAt = Number.NEGATIVE_INFINITY

  /** Counts the weekly downloads that are not cached. Concurrent calls for the same projects share one query. */
  async function cacheWeeks(ids: readonly string[]): Promise<void> {
    const missing = ids.filter((id) => weeklyDownloads.peek(id) === undefined).sort()
    if (missing.length === 0 || now() - failedAt < FAILED_MS) return
    const key = missing.join(' ')
    const running =
      counting.get(key) ??
      countWeeks(deps, missing).then((counts) => {
        for (const [id, weeks] of counts) weeklyDownloads.store(id, weeks)
      })
    counting.set(key, running)
    try {
      await running
    } catch (error) {
      failedAt = now()
      deps.log.warn({ err: error }, 'Could not count weekly downloads; lists omit trends for one minute')
    } finally {
      counting.delete(key)
    }
  }

  async function filterPublic(reader: Reader, ids: readonly string[]): Promise<string[]> {
    const projects = await listVisibleProjects(reader, null, ids)
    return projects.filter((project) => projectForm(reader, project, SHOWS_STATISTICS)).map(({ id }) => id)
  }

  async function findTrending(): Promise<readonly string[]> {
    const rows = await deps.dbRead
      .selectFrom('project')
      .select('id')
      .where('status', 'in', ['approved', 'archived'])
      .where('public_statistics', '=', true)
      .orderBy('downloads', 'desc')
      .limit(CANDIDATES)
      .execute()
    const ids = rows.map(({ id }) => id)
    await cacheWeeks(ids)
    return ids
      .map((id) => ({ id, growth: growthOf(weeklyDownloads.peek(id) ?? []) }))
      .filter(({ growth }) => growth > 0)
      .sort((a, b) => b.growth - a.growth)
      .slice(0, TRENDING_MAX)
      .map(({ id }) => id)
  }

  return {
    /**
     * Returns the weekly downloads by project ID, oldest first, cached for up to one hour. Omits projects without
     * downloads or without public statistics, and all projects if the store fails.
     */
    weekly: async (reader: Reader, projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> => {
      const ids = await filterPublic(reader, [...new Set(projectIds)])
      await cacheWeeks(ids)
      return new Map(
        ids.flatMap((id) => {
          const weeks = weeklyDownloads.peek(id)
          return weeks?.some((downloads) => downloads > 0) === true ? [[id, weeks] as const] : []
        }),
      )
    },
    /** Returns the IDs of at most 50 projects with the largest growth last week, at most two hours old. */
    trending: async (reader: Reader): Promise<readonly string[]> =>
      filterPublic(reader, await trending.get('all', findTrending)),
  }
}

/** Added to the mean, so that a few downloads more are not a large growth. */
const GROWTH_BASE = 50
/** Minimum growth, in standard deviations of such counts. */
const GROWTH_DEVIATIONS = 2

/**
 * Returns the growth of the last week over the mean of the four weeks before, relative to this mean, so that a project is
 * compared with its own past. Returns 0 if it has none, or if the difference can be chance.
 */
export function growthOf(weeks: readonly number[]): number {
  const last = weeks.at(-1) ?? 0
  const before = weeks.slice(-5, -1)
  const mean = before.reduce((sum, downloads) => sum + downloads, 0) / Math.max(1, before.length)
  const isChance = last - mean < GROWTH_DEVIATIONS * Math.sqrt(mean + TREND_DOWNLOADS_MIN)
  return last < TREND_DOWNLOADS_MIN || mean === 0 || isChance ? 0 : (last - mean) / (mean + GROWTH_BASE)
}

async function countWeeks(
  { analytics, now }: Pick<TrendDeps, 'analytics' | 'now'>,
  ids: readonly string[],
): Promise<Map<string, readonly number[]>> {
  const todayMs = Math.floor(now() / DAY_MS) * DAY_MS
  const grid = sliceGrid(todayMs - TREND_WEEKS * 7 * DAY_MS, todayMs, { slices: TREND_WEEKS })
  const [downloads] = await analytics.query(
    { grid, metrics: [{ metric: 'project_downloads', bucketBy: ['project_id'], filterBy: {}, sources: ids }] },
    { caller: 'download trends' },
  )
  const weeks = new Map(ids.map((id) => [id, new Array<number>(TREND_WEEKS).fill(0)]))
  for (const [index, points] of (downloads?.slices ?? []).entries()) {
    for (const point of points as readonly Record<string, unknown>[]) {
      const counts = weeks.get(String(point['source_project']))
      if (counts !== undefined) counts[index] = (counts[index] ?? 0) + Number(point['downloads'])
    }
  }
  return weeks
}
