// Runs an analytics query: checks what the viewer can read, queries the store and the database, and joins the results.

import { listMemberships } from '#features/basics/access/memberships.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { listAffiliateCodeIdsOf } from '#features/people/affiliates/queries.ts'
import { toAmount } from '#lib/decimal.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { type AnalyticsStore, SOURCES_MAX, type SourcedMetric } from '#ports/analytics-store/analytics-store.ts'
import { METRICS, type MetricKey, metricOf, sourcesOf } from '#ports/analytics-store/metrics.ts'
import { joinSlices, type Point, recordSlices } from '#ports/analytics-store/points.ts'
import { canSeeAllAnalytics, canSeeAnalytics, canSeeRevenue } from '../policy.ts'
import { listProjectIdsByNames, listProjectIdsOfMember, sumConversions, sumProjectRevenue } from '../queries.ts'
import type { AnalyticsQuery } from '../requests.ts'

/**
 * Returns the points of each slice. Skips projects that do not exist or whose analytics the viewer cannot see.
 * @throws ApiError `invalid_input` for too many projects or points, `analytics_database_error`.
 */
export async function runAnalyticsQuery(
  deps: QueryDeps,
  viewer: Viewer,
  { query, signal }: { query: AnalyticsQuery; signal: AbortSignal },
): Promise<Point[][]> {
  const { db } = deps
  const needs = (source: string) => query.metrics.some(({ metric }) => METRICS[metric].source === source)
  const projects = needs('project_id') ? await listReadableProjects(db, viewer, query.projectIds) : []
  const ids = projects.map(({ id }) => id)
  const codes =
    needs('affiliate_code_id') && viewer.limits === undefined ? await listAffiliateCodeIdsOf(db, viewer.id) : []
  const sourcesFor = (metric: MetricKey) => (METRICS[metric].source === 'project_id' ? ids : codes)
  return runQueryOver(deps, { query, sourcesFor, signal, caller: viewer.caller })
}

type QueryDeps = { db: Db; analytics: AnalyticsStore }

/**
 * Returns the points of each slice for sources that the caller has checked, so that several queries need one check.
 * @throws ApiError `invalid_input` for too many points, `analytics_database_error`.
 */
export async function runQueryOver(
  { db, analytics }: QueryDeps,
  of: {
    query: Pick<AnalyticsQuery, 'grid' | 'metrics'>
    /** IDs of the projects or affiliate codes of a metric. */
    sourcesFor: (metric: MetricKey) => readonly string[]
    signal: AbortSignal
    caller: string
  },
): Promise<Point[][]> {
  const { grid } = of.query
  const metrics = of.query.metrics.map(
    (request): SourcedMetric => ({ ...request, sources: sourcesOf(request, of.sourcesFor(request.metric)) }),
  )
  const counted = metrics.filter(({ metric }) => metricOf(metric).from !== 'records')
  const recorded = metrics.filter(({ metric }) => metricOf(metric).from === 'records')
  const { signal, caller } = of
  const parts = counted.length === 0 ? [] : await analytics.query({ grid, metrics: counted }, { signal, caller })
  for (const request of recorded) parts.push(recordSlices(request, grid.count, await readRecords(db, grid, request)))
  return joinSlices(parts, grid.count)
}

/** A project whose analytics the viewer can see. */
export type ReadableProject = { id: string; seesRevenue: boolean }

/**
 * Returns those of the named projects, by default all projects of the viewer, whose analytics the viewer can see.
 * @throws ApiError `invalid_input` if there are more than `SOURCES_MAX` projects.
 */
export async function listReadableProjects(
  db: Db,
  viewer: Viewer,
  names: readonly string[] | undefined,
): Promise<ReadableProject[]> {
  const ids =
    names === undefined
      ? await listProjectIdsOfMember(db, viewer, SOURCES_MAX + 1)
      : await listProjectIdsByNames(db, names)
  if (ids.length > SOURCES_MAX)
    throw invalidInput(`You have more than ${SOURCES_MAX} projects. List at most ${SOURCES_MAX} of them`, 'project_ids')
  if (canSeeAllAnalytics(viewer)) return ids.map((id) => ({ id, seesRevenue: true }))
  const memberships = await listMemberships(db, viewer, ids)
  return ids.flatMap((id) => {
    const membership = memberships.get(id) ?? {}
    return canSeeAnalytics(viewer, membership) ? [{ id, seesRevenue: canSeeRevenue(viewer, membership) }] : []
  })
}

async function readRecords(db: Db, grid: AnalyticsQuery['grid'], { metric, sources }: SourcedMetric) {
  if (metric === 'project_revenue') {
    const cells = await sumProjectRevenue(db, grid, sources)
    return cells.map((cell) => ({ ...cell, amount: toAmount(cell.amount) }))
  }
  const cells = await sumConversions(db, grid, sources)
  if (metric === 'affiliate_code_conversions') return cells.map((cell) => ({ ...cell, amount: cell.conversions }))
  return cells.map((cell) => ({ ...cell, amount: toAmount(cell.amount) })).filter(({ amount }) => amount !== '0.00')
}
