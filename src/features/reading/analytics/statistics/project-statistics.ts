// Computes the downloads of a project by day, version, loader, game version and country.

import type { Viewer } from '#features/basics/access/viewer.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVersionTraits } from '#features/catalogue/versions/queries.ts'
import { compare } from '#lib/compare.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { sliceGrid } from '#ports/analytics-store/slices.ts'
import type { Deps } from '#ports/deps.ts'
import { maySeeStatistics } from '../policy.ts'
import type { DownloadSeries, ProjectStatisticsView } from '../views.ts'

/** Maximum length of each list. */
const PARTS_MAX = 100
/** Maximum number of versions in the shares over time. */
const SHARES_MAX = 5
/** Number of periods in the shares over time: the first that divides the span into whole days, otherwise 12. */
const PERIOD_COUNTS = [18, 15]
const PERIODS = 12

const STATISTICS = defineCache<RememberDefinition<DownloadSeries>>({
  name: 'project-statistics',
  contains: 'Download statistics of a project',
  maxAgeMs: MINUTE_MS,
  maxBytes: 16 * MIB,
  sizeOf: (series) => 2 * JSON.stringify(series).length,
})

export type ProjectStatistics = ReturnType<typeof createProjectStatistics>

type StatisticsDeps = Pick<Deps, 'db' | 'cache' | 'analytics' | 'now'>

export function createProjectStatistics(deps: StatisticsDeps) {
  const statistics = deps.cache.remember(STATISTICS)
  return {
    /**
     * Returns the total and, if the viewer can see them, the series of the last `days` full days (UTC), cached for up to
     * one minute.
     * @throws ApiError `analytics_database_error` if the store does not respond
     */
    read: async (project: CachedProject, viewer: Viewer | null, days: number): Promise<ProjectStatisticsView> => {
      const view = viewOf(project)
      const todayMs = Math.floor(deps.now() / DAY_MS) * DAY_MS
      const startMs = todayMs - days * DAY_MS
      const isSeen = await maySeeStatistics(deps.db, viewer, { ...project, isPublic: view.public_statistics })
      const key = `${project.id} ${startMs} ${todayMs}`
      return {
        project_id: project.id,
        downloads: view.downloads,
        public_statistics: view.public_statistics,
        start: new Date(startMs).toISOString(),
        end: new Date(todayMs).toISOString(),
        series: isSeen
          ? await statistics.get(key, () => countSeries(deps, { projectId: project.id, startMs, todayMs }))
          : null,
      }
    },
  }
}

/** `todayMs`: start of the current day (UTC), where the span ends. */
type ProjectSpan = { projectId: string; startMs: number; todayMs: number }

async function countSeries(
  { db, analytics }: Pick<StatisticsDeps, 'db' | 'analytics'>,
  { projectId, startMs, todayMs }: ProjectSpan,
): Promise<DownloadSeries> {
  const count = (endMs: number, resolution: Parameters<typeof sliceGrid>[2], buckets: readonly string[][]) =>
    analytics.query(
      {
        grid: sliceGrid(startMs, endMs, resolution),
        metrics: buckets.map((bucketBy) => ({
          metric: 'project_downloads',
          bucketBy,
          filterBy: {},
          sources: [projectId],
        })),
      },
      // All public pages share one caller in the queue, so that they never delay the queries of a publisher.
      { caller: 'project statistics' },
    )
  const [byDay] = await count(todayMs + DAY_MS, { minutes: DAY_MS / MINUTE_MS }, [[]])
  const spanDays = (todayMs - startMs) / DAY_MS
  const periods = PERIOD_COUNTS.find((slices) => spanDays % slices === 0) ?? PERIODS
  const [byVersion] = await count(todayMs, { slices: periods }, [['version_id']])
  const [byCountry] = await count(todayMs, { slices: 1 }, [['country']])
  const daily = (byDay?.slices ?? []).map((points) => sumOf(points))
  const ofPeriods = (byVersion?.slices ?? []).map((points) => amountsBy(points, 'version_id'))
  const ofVersion = new Map<string, number>()
  for (const [id, amount] of ofPeriods.flatMap((period) => [...period]))
    ofVersion.set(id, (ofVersion.get(id) ?? 0) + amount)
  const shown = await listVersionTraits(db, projectId, {})
  const loaders = new Map<string, number>()
  const gameVersions = new Map<string, number>()
  for (const { id, loaders: runsOn, game_versions } of shown) {
    const amount = ofVersion.get(id) ?? 0
    for (const loader of runsOn) loaders.set(loader, (loaders.get(loader) ?? 0) + amount)
    for (const version of game_versions) gameVersions.set(version, (gameVersions.get(version) ?? 0) + amount)
  }
  const versions = largest(shown.map(({ id }) => [id, ofVersion.get(id) ?? 0] as const))
  return {
    days: daily.slice(0, -1).map((downloads, index) => ({ date: isoDay(startMs + index * DAY_MS), downloads })),
    today: daily.at(-1) ?? 0,
    versions: versions.map(([version_id, downloads]) => ({ version_id, downloads })),
    periods: ofPeriods.map((period, index) => ({
      start: new Date(startMs + (index * (todayMs - startMs)) / periods).toISOString(),
      downloads: [...period.values()].reduce((sum, downloads) => sum + downloads, 0),
      versions: versions
        .slice(0, SHARES_MAX)
        .map(([version_id]) => ({ version_id, downloads: period.get(version_id) ?? 0 })),
    })),
    loaders: largest(loaders).map(([loader, downloads]) => ({ loader, downloads })),
    game_versions: largest(gameVersions).map(([game_version, downloads]) => ({ game_version, downloads })),
    countries: largest(amountsBy(byCountry?.slices[0] ?? [], 'country')).map(([country, downloads]) => ({
      country,
      downloads,
    })),
  }
}

type Points = readonly Record<string, unknown>[]

const sumOf = (points: Points): number => points.reduce((sum, point) => sum + Number(point['downloads']), 0)

function amountsBy(points: Points, field: string): Map<string, number> {
  return new Map(points.map((point) => [String(point[field] ?? ''), Number(point['downloads'])]))
}

/** Sorts by downloads, then by name, and omits names without downloads. */
function largest(amounts: Iterable<readonly [name: string, amount: number]>): (readonly [string, number])[] {
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .sort(([a, left], [b, right]) => right - left || compare(a, b))
    .slice(0, PARTS_MAX)
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
