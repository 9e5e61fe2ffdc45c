// Counts what an analytics page shows: totals, columns and parts, of the period and of the previous one.
import { runQueryOver } from '#features/reading/analytics/query/run-query.ts'
import { parseAnalyticsQuery } from '#features/reading/analytics/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { type MetricKey, METRICS as STORE_METRICS } from '#ports/analytics-store/metrics.ts'
import { HIDDEN_COUNTRY, type Point } from '#ports/analytics-store/points.ts'
import { sliceEdges } from '#ports/analytics-store/slices.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { bucketOf, METRIC_NAMES, METRICS, type MetricName, sumOf } from './metrics.ts'
import { type AnalyticsBody, chartBody, previousOf, type Selection, tableBody, totalsOf } from './selection.ts'
import type { Subject } from './subject.ts'

/** Time after which the page is shown without numbers. The store itself gives up after 20 seconds. */
const PATIENCE_MS = 10_000

/** An amount in the period and in the previous one. */
export type Amounts = { now: number; before: number }

export type Numbers = {
  totals: ReadonlyMap<MetricName, Amounts>
  columns: readonly { at: Date; now: number; before: number }[]
  /** Amounts by the value of the bucket. Unknown values and hidden countries are in the empty key. */
  parts: ReadonlyMap<string, Amounts>
}

/**
 * Returns the numbers; undefined if the store does not respond.
 * @throws ApiError `invalid_input` if they would need too many points
 */
export async function loadNumbers(
  request: OwnRequest,
  subject: Subject,
  selection: Selection,
): Promise<Numbers | undefined> {
  const { counted, offer } = subject
  const before = previousOf(selection)
  const others = offer.metrics.filter((name) => name !== selection.metric)
  const withTotals = (body: AnalyticsBody): AnalyticsBody => ({
    ...body,
    return_metrics: { ...totalsOf(others, counted), ...body.return_metrics },
  })
  try {
    const run = runner(request, subject)
    const [columns, columnsBefore, [sums = []], [sumsBefore = []]] = await Promise.all([
      run(chartBody(selection, counted)),
      selection.isCompared ? run(chartBody(before, counted)) : [],
      run(withTotals(tableBody(selection, counted))),
      run(withTotals(tableBody(before, counted))),
    ])
    const edges = sliceEdges(parseAnalyticsQuery({ ...chartBody(selection, counted), project_ids: [] }).grid)
    return {
      totals: new Map(offer.metrics.map((name) => [name, { now: sumOf(sums, name), before: sumOf(sumsBefore, name) }])),
      columns: columns.map((points, index) => ({
        at: new Date(edges[index] ?? 0),
        now: sumOf(points, selection.metric),
        before: sumOf(columnsBefore[index] ?? [], selection.metric),
      })),
      parts: partsOf(selection, sums, sumsBefore),
    }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) throw error
    request.req.log.warn(
      { err: error },
      'An analytics page has no numbers, because the analytics store did not respond',
    )
    return undefined
  }
}

/** Returns a function that runs a query of the API over the projects of the subject. */
function runner({ deps, viewer }: OwnRequest, subject: Subject): (body: AnalyticsBody) => Promise<Point[][]> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const nameOf = new Map(METRIC_NAMES.map((name) => [METRICS[name].key, name]))
  const sourcesFor = (key: MetricKey): readonly string[] => subject.sourcesFor(nameOf.get(key) ?? 'downloads')
  return (body) =>
    // The subject has checked the projects; the body of the API can name fewer.
    runQueryOver(deps, {
      query: parseAnalyticsQuery({ ...body, project_ids: [] }),
      sourcesFor,
      signal,
      caller: viewer.caller,
    })
}

function partsOf({ metric, by }: Selection, now: readonly Point[], before: readonly Point[]): Map<string, Amounts> {
  const parts = new Map<string, Amounts>()
  if (by === undefined) return parts
  const { kind } = STORE_METRICS[METRICS[metric].key]
  const bucket = bucketOf(metric, by)
  const group = (points: readonly Point[]) =>
    Map.groupBy(
      points.filter((point) => point['metric_kind'] === kind),
      (point) => {
        const value = String(point[bucket] ?? '')
        return by === 'country' && value === HIDDEN_COUNTRY ? '' : value
      },
    )
  const [byNow, byBefore] = [group(now), group(before)]
  for (const key of new Set([...byNow.keys(), ...byBefore.keys()]))
    parts.set(key, { now: sumOf(byNow.get(key) ?? [], metric), before: sumOf(byBefore.get(key) ?? [], metric) })
  return parts
}
