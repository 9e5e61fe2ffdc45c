// A question about use and money, from who may ask to the points of the answer.

import { listMemberships } from '#features/basics/access/memberships.ts'
import { listAffiliateCodeIdsOf } from '#features/people/affiliates/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { toAmount } from '#lib/decimal.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { type AnalyticsStore, SOURCES_MAX, type SourcedMetric } from '#ports/analytics-store/analytics-store.ts'
import { METRICS, type MetricRequest, metricOf, sourcesOf } from '#ports/analytics-store/metrics.ts'
import { joinSlices, type MetricSlices, type Point, recordSlices } from '#ports/analytics-store/points.ts'
import { canSeeAllAnalytics, canSeeAnalytics } from '../policy.ts'
import { listProjectIdsByNames, listProjectIdsOfMember, sumConversions, sumProjectRevenue } from '../queries.ts'
import type { AnalyticsQuery } from '../requests.ts'

type AnswerDeps = { db: Db; analytics: AnalyticsStore }

/**
 * The slices of the answer. Named projects whose analytics the viewer may not see are left out, like unknown ones.
 * A signal stops the work.
 * @throws ApiError `invalid_input` for too many projects or points, `analytics_database_error`.
 */
export async function runAnalyticsQuery(
  { db, analytics }: AnswerDeps,
  viewer: Viewer,
  { question, signal }: { question: AnalyticsQuery; signal: AbortSignal },
): Promise<Point[][]> {
  const { grid } = question
  const metrics = await withSources(db, viewer, question)
  const counted = metrics.filter(({ metric }) => metricOf(metric).from !== 'records')
  const recorded = metrics.filter(({ metric }) => metricOf(metric).from === 'records')
  const parts =
    counted.length === 0 ? [] : await analytics.query({ grid, metrics: counted }, { signal, caller: viewer.caller })
  for (const metric of recorded) parts.push(await sumRecords(db, question, metric))
  return joinSlices(parts, grid.count)
}

/** Each metric with what the viewer may see of it; what no metric asks about is not looked up. */
async function withSources(db: Db, viewer: Viewer, question: AnalyticsQuery): Promise<SourcedMetric[]> {
  const wants = (source: string) => question.metrics.some(({ metric }) => METRICS[metric].source === source)
  const projects = wants('project_id') ? await listReadableProjects(db, viewer, question.projectIds) : []
  const codes = wants('affiliate_code_id') ? await listAffiliateCodeIdsOf(db, viewer.id) : []
  return question.metrics.map((request) => {
    const sources = METRICS[request.metric].source === 'project_id' ? projects : codes
    return { ...request, sources: sourcesOf(request, sources) }
  })
}

/**
 * Of the named projects, or of all to whose team or organization the viewer belongs, those whose analytics they may see.
 * @throws ApiError `invalid_input` where there are too many for one question.
 */
async function listReadableProjects(db: Db, viewer: Viewer, names: readonly string[] | undefined): Promise<string[]> {
  const ids =
    names === undefined
      ? await listProjectIdsOfMember(db, viewer.id, SOURCES_MAX + 1)
      : await listProjectIdsByNames(db, names)
  if (ids.length > SOURCES_MAX) {
    throw invalidInput(`You have more than ${SOURCES_MAX} projects; name those you ask about`, 'project_ids')
  }
  if (canSeeAllAnalytics(viewer)) return ids
  const memberships = await listMemberships(db, viewer.id, ids)
  return ids.filter((id) => canSeeAnalytics(viewer, memberships.get(id) ?? {}))
}

async function sumRecords(db: Db, { grid }: AnalyticsQuery, request: SourcedMetric): Promise<MetricSlices> {
  const rows = await readRecords(db, grid, request)
  return recordSlices(request, grid.count, rows)
}

async function readRecords(
  db: Db,
  grid: AnalyticsQuery['grid'],
  { metric, sources }: MetricRequest & { sources: readonly string[] },
) {
  if (metric === 'project_revenue') {
    const cells = await sumProjectRevenue(db, grid, sources)
    return cells.map((cell) => ({ ...cell, amount: toAmount(cell.amount) }))
  }
  const cells = await sumConversions(db, grid, sources)
  if (metric === 'affiliate_code_conversions') return cells.map((cell) => ({ ...cell, amount: cell.conversions }))
  return cells.map((cell) => ({ ...cell, amount: toAmount(cell.amount) })).filter(({ amount }) => amount !== '0.00')
}
