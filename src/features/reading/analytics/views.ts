// Response schemas of analytics.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { METRIC_KEYS, METRICS, type MetricKey } from '#ports/analytics-store/metrics.ts'

const buckets = bucketFields(METRIC_KEYS)

const AnalyticsPoint = Type.Object(
  {
    source_project: Type.Optional(Type.String()),
    source_affiliate_code: Type.Optional(Type.String()),
    metric_kind: Type.Enum(['views', 'downloads', 'playtime', 'revenue', 'clicks', 'conversions']),
    ...Object.fromEntries(
      buckets.map((field) => [field, Type.Optional(field === 'monetized' ? Type.Boolean() : Type.String())]),
    ),
    views: Type.Optional(Type.Integer()),
    downloads: Type.Optional(Type.Integer()),
    seconds: Type.Optional(Type.Integer()),
    clicks: Type.Optional(Type.Integer()),
    conversions: Type.Optional(Type.Integer()),
    revenue: Type.Optional(Type.String({ description: 'Decimal' })),
  },
  { title: 'AnalyticsPoint', additionalProperties: false },
)

export const AnalyticsResponse = Type.Array(Type.Array(AnalyticsPoint), {
  description: 'One list of points per slice, in chronological order. As CSV: one row per point',
})

const downloads = Type.Integer()
const parts = <K extends string>(name: K, description: string) =>
  Type.Array(
    Type.Object({ [name]: Type.String(), downloads } as Record<K, Type.TString> & { downloads: Type.TInteger }),
    { description },
  )

const DownloadSeries = NamedObject('DownloadSeries', {
  days: parts('date', 'Downloads of each day (UTC), oldest first'),
  today: Type.Integer({ description: 'Downloads so far today (UTC). Not included in the series' }),
  versions: parts(
    'version_id',
    'Listed versions, most downloaded first. This list and the following ones: at most 100',
  ),
  periods: Type.Array(
    Type.Object({
      start: Timestamp,
      downloads: Type.Integer({ description: 'Downloads of all versions' }),
      versions: parts('version_id', 'The most downloaded versions of `versions`, in the same order; at most 5'),
    }),
    { description: 'Equal parts of the span, oldest first. Each ends where the next one starts' },
  ),
  loaders: parts('loader', 'A download counts for each loader of its version'),
  game_versions: parts('game_version', 'A download counts for each game version of its version'),
  countries: parts(
    'country',
    'ISO 3166-1 alpha-2 country code. `XX`: unknown country, or a country with fewer than 50 downloads',
  ),
})
export type DownloadSeries = Static<typeof DownloadSeries>

export const ProjectStatisticsView = NamedObject('ProjectStatistics', {
  project_id: Type.String(),
  downloads: Type.Integer({ description: 'All-time total' }),
  public_statistics: Type.Boolean({ description: 'Whether the series are public' }),
  start: Timestamp,
  end: Timestamp,
  series: Nullable(DownloadSeries),
})
export type ProjectStatisticsView = Static<typeof ProjectStatisticsView>

/** Returns the bucket fields of these metrics without duplicates, in the order of the metrics. */
export function bucketFields(metrics: readonly MetricKey[]): string[] {
  return [...new Set(metrics.flatMap((metric): readonly string[] => METRICS[metric].buckets))]
}
