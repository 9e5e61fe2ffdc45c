// The table of metrics with their sources, bucket fields and filters, in the order of the response. Validation, the store
// adapters and the order of points use it.
import type { EventKind } from './events.ts'

type Metric = {
  /** `metric_kind` of the points. */
  kind: 'views' | 'downloads' | 'playtime' | 'revenue' | 'clicks' | 'conversions'
  /** Name of the value in the points. */
  value: string
  /** Column of the counted resource; results are always grouped by it. */
  source: 'project_id' | 'affiliate_code_id'
  /** Values of `bucket_by`, in the order of the points. */
  buckets: readonly string[]
  /** Fields of `filter_by` in addition to the buckets without the project. */
  otherFilters?: readonly string[]
  /** Kind of the counted events, or `records`: rows of the database, which are not in the store. */
  from: EventKind | 'records'
  /** Column to add up. Default: events are counted. */
  sum?: string
}

/** A country with a smaller amount in a cell is reported as `XX`, which protects the privacy of visitors from rare countries. */
export const COUNTRY_FLOOR = 50

export const METRICS = {
  project_views: {
    kind: 'views',
    value: 'views',
    source: 'project_id',
    buckets: ['project_id', 'domain', 'site_path', 'monetized', 'country'],
    otherFilters: ['user_agent'],
    from: 'view',
  },
  project_downloads: {
    kind: 'downloads',
    value: 'downloads',
    source: 'project_id',
    buckets: ['project_id', 'version_id', 'domain', 'site_path', 'country'],
    otherFilters: ['user_agent', 'monetized', 'reason', 'game_version', 'loader'],
    from: 'download',
  },
  project_playtime: {
    kind: 'playtime',
    value: 'seconds',
    source: 'project_id',
    buckets: ['project_id', 'version_id', 'loader', 'game_version'],
    from: 'playtime',
    sum: 'seconds',
  },
  project_revenue: {
    kind: 'revenue',
    value: 'revenue',
    source: 'project_id',
    buckets: ['project_id'],
    from: 'records',
  },
  affiliate_code_clicks: {
    kind: 'clicks',
    value: 'clicks',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    from: 'affiliate_click',
  },
  affiliate_code_conversions: {
    kind: 'conversions',
    value: 'conversions',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    from: 'records',
  },
  affiliate_code_revenue: {
    kind: 'revenue',
    value: 'revenue',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    from: 'records',
  },
} as const satisfies Record<string, Metric>

export type MetricKey = keyof typeof METRICS

/** Metrics in the order of the response. */
export const METRIC_KEYS = Object.keys(METRICS) as MetricKey[]

/** A requested metric; fields are in the order of the table and without duplicates. */
export type MetricRequest = {
  metric: MetricKey
  bucketBy: readonly string[]
  /** The values of a field are alternatives; all fields must match. A field without values is omitted. */
  filterBy: Readonly<Record<string, readonly (string | boolean)[]>>
}

/** Returns a row of the table with the type that all rows share. */
export function metricOf(key: MetricKey): Metric {
  return METRICS[key]
}

/** Returns the fields of `filter_by`. */
export function filtersOf(key: MetricKey): string[] {
  const { buckets, otherFilters = [] } = metricOf(key)
  return [...buckets.filter((field) => field !== 'project_id'), ...otherFilters]
}

/**
 * Returns the columns to group by in addition to the source: buckets and filters. Grouping by filters applies the country
 * floor to each filtered value, so that a filter cannot reveal amounts below it.
 */
export function dimensionsOf(request: MetricRequest): string[] {
  const { source, buckets, otherFilters = [] } = metricOf(request.metric)
  const fields = [...buckets, ...otherFilters].filter((field) => field !== source)
  return fields.filter((field) => request.bucketBy.includes(field) || field in request.filterBy)
}

/** Returns the dimensions in the order of the points: buckets first, then fields that are only filtered. */
export function sortedDimensions(request: MetricRequest): string[] {
  const isBucket = (field: string) => request.bucketBy.includes(field)
  return dimensionsOf(request).sort((a, b) => Number(isBucket(b)) - Number(isBucket(a)))
}

/** Whether the country floor merges cells. With a filter by country, it removes them instead. */
export function mergesCountries({ filterBy, bucketBy }: MetricRequest): boolean {
  return bucketBy.includes('country') && !Object.hasOwn(filterBy, 'country')
}

/** @throws Error for a metric of database records */
export function eventKindOf(key: MetricKey): EventKind {
  const { from } = metricOf(key)
  if (from === 'records') throw new Error(`The analytics store does not count ${key}`)
  return from
}

/** Returns the unique sources, without those that a filter by the source excludes. */
export function sourcesOf(request: MetricRequest, ids: readonly string[]): string[] {
  const allowed = request.filterBy[metricOf(request.metric).source]
  const unique = [...new Set(ids)]
  return allowed === undefined ? unique : unique.filter((id) => allowed.includes(id))
}
