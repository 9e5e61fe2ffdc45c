// How often projects were downloaded in the last weeks, for lists: a few numbers each, and which of them are rising.
// Only what projects show to everybody; whether they do is asked of the cache each time, so that it is never an old no.
import {
  type CachedProject,
  listVisibleProjects,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { isSearchableStatus } from '#lib/project-status.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import type { Deps } from '#ports/deps.ts'

/** Numbers of a project, one for each whole week before the running day. */
export const TREND_WEEKS = 12

const WEEKS: RememberDefinition<readonly number[]> = { name: 'download-trend', sizeOf: (weeks) => 8 * weeks.length }
const TRENDING: RememberDefinition<readonly string[]> = { name: 'trending-projects', sizeOf: (ids) => 30 * ids.length }
/** A store that has just failed is left in peace: lists are there without it. */
const FAILED_MS = MINUTE_MS
/** Of the most downloaded ones, those that may be found to rise. */
const CANDIDATES = 2000
const RISING_MAX = 50
/** Fewer in the last week are no trend. */
const RISING_DOWNLOADS_MIN = 10

export type DownloadTrends = {
  /**
   * Downloads of the last weeks, oldest first, by project, at most an hour old. Left out are projects that nobody
   * downloaded, those that keep their statistics to themselves, and all while the store does not answer.
   */
  weekly(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>>
  /** IDs of the projects whose last week stands out most from the weeks before it, at most 50, at most two hours old. */
  rising(reader: Reader): Promise<readonly string[]>
}

/** What it is asked through, so that a page which shows a trend is made again when its project changes. */
type Reader = Pick<Deps, 'db' | 'cache' | 'taxonomy'>

type TrendDeps = Pick<Deps, 'db' | 'dbRead' | 'cache' | 'taxonomy' | 'analytics' | 'now' | 'log'>

const SHOWS_STATISTICS: DerivedForm<CachedProject, boolean> = {
  derive: ({ status, bytes }) =>
    isSearchableStatus(status) && (JSON.parse(bytes.toString()) as ProjectView).public_statistics,
  sizeOf: () => 8,
}

export function createDownloadTrends(deps: TrendDeps): DownloadTrends {
  const { cache, now } = deps
  const weeklyDownloads = cache.remember(WEEKS)
  const trending = cache.remember(TRENDING)
  const counting = new Map<string, Promise<void>>()
  let failedAt = Number.NEGATIVE_INFINITY

  /** Counts what is not kept. */
  async function count(ids: readonly string[]): Promise<void> {
    const missing = ids.filter((id) => weeklyDownloads.peek(id) === undefined).sort()
    if (missing.length === 0 || now() - failedAt < FAILED_MS) return
    const key = missing.join(' ')
    const running = counting.get(key) ?? countWeeks(deps, missing).then((found) => keep(found))
    counting.set(key, running)
    try {
      await running
    } catch (error) {
      failedAt = now()
      deps.log.warn({ err: error }, 'Trends of downloads are left out')
    } finally {
      counting.delete(key)
    }
  }

  function keep(found: ReadonlyMap<string, readonly number[]>): void {
    for (const [id, weeks] of found) weeklyDownloads.store(id, weeks)
  }

  async function shown(reader: Reader, ids: readonly string[]): Promise<string[]> {
    const projects = await listVisibleProjects(reader, null, ids)
    return projects.filter((project) => projectForm(reader, project, SHOWS_STATISTICS)).map(({ id }) => id)
  }

  async function findRising(): Promise<readonly string[]> {
    const rows = await deps.dbRead
      .selectFrom('project')
      .select('id')
      .where('status', 'in', ['approved', 'archived'])
      .where('public_statistics', '=', true)
      .orderBy('downloads', 'desc')
      .limit(CANDIDATES)
      .execute()
    const ids = rows.map(({ id }) => id)
    await count(ids)
    return ids
      .map((id) => ({ id, score: riseOf(weeklyDownloads.peek(id) ?? []) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, RISING_MAX)
      .map(({ id }) => id)
  }

  return {
    weekly: async (reader, asked) => {
      const ids = await shown(reader, [...new Set(asked)])
      await count(ids)
      return new Map(
        ids.flatMap((id) => {
          const weeks = weeklyDownloads.peek(id)
          return weeks?.some((downloads) => downloads > 0) === true ? [[id, weeks] as const] : []
        }),
      )
    },
    rising: async (reader) => shown(reader, await trending.get('all', findRising)),
  }
}

/** How far the last week is above the mean of the four before, in units of the noise of such counts. */
export function riseOf(weeks: readonly number[]): number {
  const last = weeks.at(-1) ?? 0
  const before = weeks.slice(-5, -1)
  const mean = before.reduce((sum, downloads) => sum + downloads, 0) / Math.max(1, before.length)
  return last < RISING_DOWNLOADS_MIN ? 0 : (last - mean) / Math.sqrt(mean + RISING_DOWNLOADS_MIN)
}

async function countWeeks(
  { analytics, now }: Pick<TrendDeps, 'analytics' | 'now'>,
  ids: readonly string[],
): Promise<Map<string, readonly number[]>> {
  const todayMs = Math.floor(now() / DAY_MS) * DAY_MS
  const grid = sliceGrid(todayMs - TREND_WEEKS * 7 * DAY_MS, todayMs, { slices: TREND_WEEKS })
  const [found] = await analytics.query(
    {
      grid,
      metrics: [{ metric: 'project_downloads', bucketBy: ['project_id'], filterBy: {}, sources: ids }],
    },
    { caller: 'download trends' },
  )
  const weeks = new Map(ids.map((id) => [id, new Array<number>(TREND_WEEKS).fill(0)]))
  for (const [index, points] of (found?.slices ?? []).entries()) {
    for (const point of points as readonly Record<string, unknown>[]) {
      const of = weeks.get(String(point['source_project']))
      if (of !== undefined) of[index] = (of[index] ?? 0) + Number(point['downloads'])
    }
  }
  return weeks
}
