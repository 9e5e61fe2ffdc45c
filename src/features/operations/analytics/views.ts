// The wire shapes of analytics: the points of an answer.
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { METRICS, type MetricKey } from '#ports/analytics-store/metrics.ts'

const buckets = [...new Set(bucketFields(Object.keys(METRICS) as MetricKey[]))]

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
  description: 'One list for each slice, in chronological order; as CSV, one row for each data point',
})

const downloads = Type.Integer()
const parts = <K extends string>(name: K, description: string) =>
  Type.Array(
    Type.Object({ [name]: Type.String(), downloads } as Record<K, Type.TString> & { downloads: Type.TInteger }),
    {
      description,
    },
  )

const DownloadSeries = Type.Object(
  {
    days: parts('date', 'Every day (UTC) of the span, oldest first'),
    today: Type.Integer({ description: 'Downloads of the running day so far, which no series contains' }),
    versions: parts('version_id', 'Listed versions, most downloaded first; at most 100, as in the lists below'),
    loaders: parts('loader', 'A download counts for each loader that its version names'),
    game_versions: parts('game_version', 'A download counts for each game version that its version names'),
    countries: parts('country', 'ISO 3166 alpha-2; `XX` is unknown, or fewer than 50'),
  },
  { title: 'DownloadSeries' },
)
export type DownloadSeries = Static<typeof DownloadSeries>

export const ProjectStatisticsView = Type.Object(
  {
    project_id: Type.String(),
    downloads: Type.Integer({ description: 'Of all times' }),
    public_statistics: Type.Boolean({ description: 'Whether everybody sees the series' }),
    start: Timestamp,
    end: Timestamp,
    series: Nullable(DownloadSeries),
  },
  { title: 'ProjectStatistics' },
)
export type ProjectStatisticsView = Static<typeof ProjectStatisticsView>

/** The bucket fields of these metrics in the order of the metrics, each once. */
export function bucketFields(metrics: readonly MetricKey[]): string[] {
  return [...new Set(metrics.flatMap((metric): readonly string[] => METRICS[metric].buckets))]
}
