// The one table of what can be asked: each metric with its source, its bucket fields and its filters, in the order of
// the specification. Validation, both store adapters and the order of an answer are all drawn from it.
import type { EventKind } from './events.ts'

type Metric = {
  /** `metric_kind` of its points. */
  kind: 'views' | 'downloads' | 'playtime' | 'revenue' | 'clicks' | 'conversions'
  /** Name of the value in its points. */
  value: string
  /** Column that names what is counted; always grouped by. */
  source: 'project_id' | 'affiliate_code_id'
  /** What may be asked in `bucket_by`, in the order of the specification. */
  buckets: readonly string[]
  /** What may be asked in `filter_by`; a superset of the buckets less the project. */
  filters: readonly string[]
  /** The events it is counted from, or `records`: transaction rows in the database, which the store knows nothing of. */
  from: EventKind | 'records'
  /** Column that is summed; without one, events are counted. */
  sum?: string
  /** A country with fewer than this in one cell is reported as `XX`. 0 = no floor. */
  countryFloor: number
  needsPayoutsRead: boolean
}

/** specification, "Country anonymization". */
const COUNTRY_FLOOR = 50

export const METRICS = {
  project_views: {
    kind: 'views',
    value: 'views',
    source: 'project_id',
    buckets: ['project_id', 'domain', 'site_path', 'monetized', 'country'],
    filters: ['domain', 'site_path', 'monetized', 'country', 'user_agent'],
    from: 'view',
    countryFloor: COUNTRY_FLOOR,
    needsPayoutsRead: false,
  },
  project_downloads: {
    kind: 'downloads',
    value: 'downloads',
    source: 'project_id',
    buckets: ['project_id', 'version_id', 'domain', 'site_path', 'country'],
    filters: [
      'version_id',
      'domain',
      'site_path',
      'country',
      'user_agent',
      'monetized',
      'reason',
      'game_version',
      'loader',
    ],
    from: 'download',
    countryFloor: COUNTRY_FLOOR,
    needsPayoutsRead: false,
  },
  project_playtime: {
    kind: 'playtime',
    value: 'seconds',
    source: 'project_id',
    buckets: ['project_id', 'version_id', 'loader', 'game_version'],
    filters: ['version_id', 'loader', 'game_version'],
    from: 'playtime',
    sum: 'seconds',
    countryFloor: 0,
    needsPayoutsRead: false,
  },
  project_revenue: {
    kind: 'revenue',
    value: 'revenue',
    source: 'project_id',
    buckets: ['project_id'],
    filters: [],
    from: 'records',
    countryFloor: 0,
    needsPayoutsRead: true,
  },
  affiliate_code_clicks: {
    kind: 'clicks',
    value: 'clicks',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    filters: ['affiliate_code_id'],
    from: 'affiliate_click',
    countryFloor: 0,
    needsPayoutsRead: false,
  },
  affiliate_code_conversions: {
    kind: 'conversions',
    value: 'conversions',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    filters: ['affiliate_code_id'],
    from: 'records',
    countryFloor: 0,
    needsPayoutsRead: false,
  },
  affiliate_code_revenue: {
    kind: 'revenue',
    value: 'revenue',
    source: 'affiliate_code_id',
    buckets: ['affiliate_code_id'],
    filters: ['affiliate_code_id'],
    from: 'records',
    countryFloor: 0,
    needsPayoutsRead: true,
  },
} as const satisfies Record<string, Metric>

export type MetricKey = keyof typeof METRICS

/** The metrics in the order in which answers list them. */
export const METRIC_KEYS = Object.keys(METRICS) as MetricKey[]

/** One metric as asked: fields are in the order of the specification and without duplicates. */
export type MetricRequest = {
  metric: MetricKey
  bucketBy: readonly string[]
  /** Values in one field are alternatives, fields are conjunctive; a field without values is absent. */
  filterBy: Readonly<Record<string, readonly (string | boolean)[]>>
}

/** The table's row, with the type that all rows share. */
export function metricOf(key: MetricKey): Metric {
  return METRICS[key]
}

/**
 * The columns that a question groups by besides the source: what is bucketed or filtered. A filtered column takes part
 * in the country floor like a bucketed one (facts 1.1.3), so that a filter cannot be used to look below it.
 */
export function dimensionsOf(request: MetricRequest): string[] {
  const { source, buckets, filters } = metricOf(request.metric)
  const known = new Set([...buckets, ...filters])
  known.delete(source)
  return [...known].filter((field) => request.bucketBy.includes(field) || field in request.filterBy)
}

/** The sources that are left when the question also filters by the source itself. */
export function sourcesOf(request: MetricRequest, ids: readonly string[]): string[] {
  const wanted = request.filterBy[metricOf(request.metric).source]
  const unique = [...new Set(ids)]
  return wanted === undefined ? unique : unique.filter((id) => wanted.includes(id))
}
