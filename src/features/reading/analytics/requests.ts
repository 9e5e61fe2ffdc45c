// Request schemas of analytics: reports of views, playtime and clicks, and the body of `POST /v3/analytics`.

import Type, { type Static, type TSchema } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { ID_PATTERN, isIdForm } from '#lib/ids.ts'
import { Id, NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import {
  filtersOf,
  METRIC_KEYS,
  METRICS,
  type MetricKey,
  type MetricRequest,
  metricOf,
} from '#ports/analytics-store/metrics.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'
import { type Resolution, type SliceGrid, sliceGrid } from '#ports/analytics-store/slices.ts'

/** Limits the size of the request only: URLs are truncated when they are stored. */
const WebUrl = (description: string) => Type.String({ maxLength: 8192, description })

export const PageView = NamedObject('PageView', {
  url: WebUrl('URL of the visited page. A path /project/… or /{project type}/… counts for that project'),
  referrer: Type.Optional(Nullable(WebUrl('URL of the page that linked to the visited page'))),
})

const PlaytimeEntry = NamedObject('PlaytimeEntry', {
  seconds: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Entries above 300 seconds are not counted' }),
  loader: Type.Optional(Type.String({ maxLength: 64 })),
  game_version: Type.Optional(Type.String({ maxLength: 64 })),
  parent: Type.Optional(Id('ID of the modpack version that contained the played version')),
})
export type PlaytimeEntry = Static<typeof PlaytimeEntry>

export const Playtime = Type.Record(Type.String(), PlaytimeEntry, {
  title: 'Playtime',
  description: 'Map from version ID to playtime, with at most 2,000 entries',
})

export const AffiliateClick = NamedObject('AffiliateClick', {
  url: WebUrl('URL of the page that the click led to'),
  affiliate_code_id: Id(),
})

/** Default number of days of project statistics. */
export const STATISTICS_DAYS = 30

export const StatisticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      default: STATISTICS_DAYS,
      description: 'Number of full days (UTC) before today',
    }),
  ),
})

const SLICES_MAX = 1024
const SLICE_MINUTES_MIN = 60
/** The same limit as for lists by `ids`. */
const PROJECT_IDS_MAX = 1000
const FILTER_VALUES_MAX = 256
const FILTER_TEXT_MAX = 512
const BUCKET_FIELDS_MAX = 32

/** A field that only the API description defines: `parseAnalyticsQuery` validates it, with more precise errors. */
const ParsedLater = (described: TSchema, description: string) =>
  Type.Optional(Type.Unsafe<unknown>({ description, describedAs: described }))

const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum })
const Closed = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: false })

const TimeRange = Closed({
  start: Type.String({ format: 'date-time', maxLength: 64 }),
  end: Type.String({ format: 'date-time', maxLength: 64 }),
  resolution: Type.Union([
    Closed({ slices: Count(SLICES_MAX) }),
    Closed({ minutes: Type.Integer({ minimum: SLICE_MINUTES_MIN, maximum: Number.MAX_SAFE_INTEGER }) }),
  ]),
})

const FilterValues = (name: string) => {
  const text = Type.String({ maxLength: FILTER_TEXT_MAX, ...(name.endsWith('_id') ? { pattern: ID_PATTERN } : {}) })
  return Type.Array(name === 'monetized' ? Type.Boolean() : text, { maxItems: FILTER_VALUES_MAX })
}

const ReturnMetrics = Closed(
  Object.fromEntries(
    METRIC_KEYS.map((metric) => {
      const { buckets } = metricOf(metric)
      const options = Closed({
        bucket_by: Type.Optional(Type.Array(Type.Enum([...buckets]), { maxItems: BUCKET_FIELDS_MAX })),
        filter_by: Type.Optional(
          Closed(Object.fromEntries(filtersOf(metric).map((name) => [name, Type.Optional(FilterValues(name))]))),
        ),
      })
      return [metric, Type.Optional(options)]
    }),
  ),
)

export const AnalyticsQueryBody = Type.Object(
  {
    time_range: ParsedLater(
      TimeRange,
      '`resolution` is `{slices: n}` for n equal slices, or `{minutes: n}` for slices of n minutes. ' +
        `At most ${SLICES_MAX} slices of at least ${SLICE_MINUTES_MIN} minutes.`,
    ),
    return_metrics: ParsedLater(
      ReturnMetrics,
      'Metrics to return. `bucket_by` lists the fields to group by, `filter_by` the accepted values of each field. ' +
        'Revenue metrics require the scope PAYOUTS_READ.',
    ),
    project_ids: ParsedLater(
      Type.Array(Type.String({ maxLength: 64, pattern: NAME_PATTERN }), { maxItems: PROJECT_IDS_MAX }),
      'Project IDs or slugs. Default, also for an empty list: all projects whose analytics the caller can see',
    ),
  },
  // All fields are optional for the validator: `parseAnalyticsQuery` reports missing ones.
  { title: 'AnalyticsQuery', describedAs: { required: ['time_range', 'return_metrics'] } },
)

// Unknown keys in `time_range`, `return_metrics` and the filters are errors, because a typo there would silently return
// wrong numbers. Only own keys are read, so that `__proto__` is a key like any other.

/** A valid query. `runAnalyticsQuery` checks which projects the viewer can query. */
export type AnalyticsQuery = {
  grid: SliceGrid
  /** In the order of `METRIC_KEYS`. */
  metrics: MetricRequest[]
  /** IDs or slugs without duplicates; undefined for all projects of the caller. */
  projectIds: string[] | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Parses a request body. @throws ApiError `validation_error` with the path of the first invalid field. */
export function parseAnalyticsQuery(body: unknown): AnalyticsQuery {
  const fields = objectAt(body, 'body')
  return {
    grid: parseTimeRange(own(fields, 'time_range')),
    metrics: parseMetrics(own(fields, 'return_metrics')),
    projectIds: parseProjectIds(own(fields, 'project_ids')),
  }
}

/** Returns whether the query requires the scope PAYOUTS_READ. */
export function needsPayoutsRead({ metrics }: AnalyticsQuery): boolean {
  return metrics.some(({ metric }) => METRICS[metric].kind === 'revenue')
}

function parseTimeRange(value: unknown): SliceGrid {
  const range = strictObjectAt(value, 'time_range', ['start', 'end', 'resolution'])
  const startMs = parseTime(own(range, 'start'), 'time_range.start')
  const endMs = parseTime(own(range, 'end'), 'time_range.end')
  const resolution = parseResolution(own(range, 'resolution'))
  if (endMs <= startMs) throw validationError('time_range.end', 'must be later than start')
  const rangeMs = endMs - startMs
  if (rangeMs < SLICE_MINUTES_MIN * MINUTE_MS)
    throw validationError('time_range.end', `must be at least ${SLICE_MINUTES_MIN} minutes after start`)
  checkResolution(resolution, rangeMs)
  return sliceGrid(startMs, endMs, resolution)
}

function parseTime(value: unknown, field: string): number {
  if (typeof value !== 'string') throw validationError(field, 'must be an RFC 3339 timestamp')
  const ms = parseRfc3339(value)
  if (ms === undefined)
    throw validationError(field, 'must be an RFC 3339 timestamp of an existing day, with Z or an offset')
  return ms
}

function parseResolution(value: unknown): Resolution {
  const field = 'time_range.resolution'
  const object = strictObjectAt(value, field, ['slices', 'minutes'])
  const keys = Object.keys(object)
  if (keys.length !== 1) throw validationError(field, 'must have exactly one of slices and minutes')
  const key = keys[0] === 'slices' ? 'slices' : 'minutes'
  const number = own(object, key)
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1)
    throw validationError(`${field}.${key}`, 'must be an integer of at least 1')
  return key === 'slices' ? { slices: number } : { minutes: number }
}

function checkResolution(resolution: Resolution, rangeMs: number): void {
  const isSlices = 'slices' in resolution
  const field = `time_range.resolution.${isSlices ? 'slices' : 'minutes'}`
  const count = isSlices ? resolution.slices : Math.ceil(rangeMs / MINUTE_MS / resolution.minutes)
  const minutes = isSlices ? rangeMs / MINUTE_MS / count : resolution.minutes
  if (count > SLICES_MAX) throw validationError(field, `results in ${count} slices; the maximum is ${SLICES_MAX}`)
  // A product is exact for every range, a quotient is not.
  const isTooShort = isSlices ? rangeMs < count * SLICE_MINUTES_MIN * MINUTE_MS : minutes < SLICE_MINUTES_MIN
  if (isTooShort)
    throw validationError(field, `results in slices of ${minutes} minutes; the minimum is ${SLICE_MINUTES_MIN}`)
}

function parseMetrics(value: unknown): MetricRequest[] {
  const requested = strictObjectAt(value, 'return_metrics', METRIC_KEYS)
  return METRIC_KEYS.filter((metric) => Object.hasOwn(requested, metric)).map((metric) => {
    const field = `return_metrics.${metric}`
    const object = strictObjectAt(requested[metric], field, ['bucket_by', 'filter_by'])
    return {
      metric,
      bucketBy: parseBuckets(metric, own(object, 'bucket_by'), `${field}.bucket_by`),
      filterBy: parseFilters(metric, own(object, 'filter_by'), `${field}.filter_by`),
    }
  })
}

function parseBuckets(metric: MetricKey, value: unknown, field: string): string[] {
  const { buckets } = metricOf(metric)
  const names = listAt(value, field, BUCKET_FIELDS_MAX)
  for (const [i, name] of names.entries()) {
    if (typeof name !== 'string' || !buckets.includes(name))
      throw validationError(`${field}.${i}`, `must be one of ${buckets.join(', ')}`)
  }
  return buckets.filter((name) => names.includes(name))
}

function parseFilters(metric: MetricKey, value: unknown, field: string): MetricRequest['filterBy'] {
  if (value === undefined) return {}
  const object = strictObjectAt(value, field, filtersOf(metric))
  const filters: Record<string, (string | boolean)[]> = {}
  for (const [name, list] of Object.entries(object)) {
    const values = listAt(list, `${field}.${name}`, FILTER_VALUES_MAX)
    const checked = values.map((item, i) => filterValue(name, item, `${field}.${name}.${i}`))
    const unique = [...new Set(checked)]
    if (unique.length > 0 && !isEveryFlag(unique)) filters[name] = unique
  }
  return filters
}

/** `[true, false]` filters nothing, but would apply the minimum count per country to each half separately. */
function isEveryFlag(values: readonly (string | boolean)[]): boolean {
  return values.includes(true) && values.includes(false)
}

function filterValue(name: string, value: unknown, field: string): string | boolean {
  if (name === 'monetized') {
    if (typeof value !== 'boolean') throw validationError(field, 'must be true or false')
    return value
  }
  if (typeof value !== 'string' || value.length > FILTER_TEXT_MAX)
    throw validationError(field, `must be a string of at most ${FILTER_TEXT_MAX} characters`)
  if (name.endsWith('_id') && !isIdForm(value)) throw validationError(field, 'must be a base62 identifier')
  return value.toWellFormed().replaceAll('\0', '')
}

function parseProjectIds(value: unknown): string[] | undefined {
  const list = listAt(value, 'project_ids', PROJECT_IDS_MAX)
  for (const [i, id] of list.entries()) {
    // The pattern of slugs also matches IDs.
    if (typeof id !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(id))
      throw validationError(`project_ids.${i}`, 'must be the identifier or slug of a project')
  }
  return list.length === 0 ? undefined : ([...new Set(list)] as string[])
}

function listAt(value: unknown, field: string, max: number): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw validationError(field, 'must be an array')
  if (value.length > max) throw validationError(field, `must have at most ${max} entries`)
  return value
}

function strictObjectAt(value: unknown, field: string, known: readonly string[]): Fields {
  const object = objectAt(value, field)
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) throw validationError(`${field}.${key}`, `is unknown; must be one of ${known.join(', ')}`)
  }
  return object
}

function objectAt(value: unknown, field: string): Fields {
  if (value === undefined) throw validationError(field, 'is required')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw validationError(field, 'must be an object')
  return value as Fields
}

function own(object: Fields, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
