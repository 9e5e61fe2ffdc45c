// The wire shapes of analytics: what is sent in, what may be asked, and the points that come out.
import Type, { type Static } from 'typebox'
import { METRICS, type MetricKey } from '#analytics-store/metrics.ts'
import { Nullable } from '#lib/schema-parts.ts'

/** Addresses are cut when they are stored; this bounds what is read. */
const WebAddress = (description: string) => Type.String({ maxLength: 8192, description })

export const PageView = Type.Object(
  {
    url: WebAddress('The visited page; /project/… and /{project type}/… count for a project'),
    referrer: Type.Optional(Nullable(WebAddress('The page from which the visitor came'))),
  },
  { title: 'PageView' },
)

const PlaytimeEntry = Type.Object(
  {
    seconds: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Entries of more than 300 do not count' }),
    loader: Type.Optional(Type.String({ maxLength: 64 })),
    game_version: Type.Optional(Type.String({ maxLength: 64 })),
    parent: Type.Optional(Type.String({ maxLength: 64, description: 'Version of the bundle that was played' })),
  },
  { title: 'PlaytimeEntry' },
)
export type PlaytimeEntry = Static<typeof PlaytimeEntry>

export const Playtime = Type.Record(Type.String(), PlaytimeEntry, {
  title: 'Playtime',
  description: 'Version ID → what was played of it; at most 2000 entries',
})

export const AffiliateClick = Type.Object(
  { url: WebAddress('The page that was reached'), affiliate_code_id: Type.String({ maxLength: 64 }) },
  { title: 'AffiliateClick' },
)

/** Only the outer form: what is inside is read strictly, and its faults are named, by `parseAnalyticsQuestion`. */
const Inside = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }))

export const AnalyticsQuestionBody = Type.Object(
  {
    time_range: Inside(
      'Object with `start` and `end` (RFC 3339) and `resolution`: either `{slices: n}`, equal parts, or `{minutes: n}`, ' +
        'parts of that length. At most 1024 slices of at least 60 minutes.',
    ),
    return_metrics: Inside(
      `Object of metrics (${Object.keys(METRICS).join(', ')}), each an object with \`bucket_by\` (list of fields) and, if wanted, ` +
        '`filter_by` (field → list of values). Revenue needs the scope PAYOUTS_READ.',
    ),
    project_ids: Inside('List of IDs or slugs; absent or empty: all projects whose analytics the caller may see'),
  },
  { title: 'AnalyticsQuestion' },
)

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
  description: 'One list for each slice, in order of time; `Accept: text/csv` gives one row for each point instead',
})

/** The bucket fields of these metrics in the order of the specification, each once. */
export function bucketFields(metrics: readonly MetricKey[]): string[] {
  return [...new Set(metrics.flatMap((metric): readonly string[] => METRICS[metric].buckets))]
}
