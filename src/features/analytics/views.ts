// The wire shapes of analytics: the points of an answer.
import Type from 'typebox'
import { METRICS, type MetricKey } from '#analytics-store/metrics.ts'

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

export const AnalyticsAnswer = Type.Array(Type.Array(AnalyticsPoint), {
  description: 'One list for each slice, in chronological order; as CSV, one row for each data point',
})

/** The bucket fields of these metrics in the order of the metrics, each once. */
export function bucketFields(metrics: readonly MetricKey[]): string[] {
  return [...new Set(metrics.flatMap((metric): readonly string[] => METRICS[metric].buckets))]
}
