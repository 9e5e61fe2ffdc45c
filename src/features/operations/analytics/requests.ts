// What clients send to analytics: reports of views, playtime and clicks, and the body of `POST /v3/analytics`.

import Type, { type Static, type TSchema } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { ID_PATTERN, isIdForm } from '#lib/ids.ts'
import { Id, Nullable } from '#lib/schema/schema-parts.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { METRIC_KEYS, METRICS, type MetricKey, type MetricRequest, metricOf } from '#ports/analytics-store/metrics.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'
import { type Resolution, type SliceGrid, sliceGrid } from '#ports/analytics-store/slices.ts'

/** Addresses are cut when they are stored; this bounds what is read. */
const WebAddress = (description: string) => Type.String({ maxLength: 8192, description })

export const PageView = Type.Object(
  {
    url: WebAddress('Address of the visited page; a path /project/… or /{project type}/… counts for that project'),
    referrer: Type.Optional(Nullable(WebAddress('Address of the page that linked to it'))),
  },
  { title: 'PageView' },
)

const PlaytimeEntry = Type.Object(
  {
    seconds: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Entries above 300 seconds are not counted' }),
    loader: Type.Optional(Type.String({ maxLength: 64 })),
    game_version: Type.Optional(Type.String({ maxLength: 64 })),
    parent: Type.Optional(Id('Version of the modpack that contained it')),
  },
  { title: 'PlaytimeEntry' },
)
export type PlaytimeEntry = Static<typeof PlaytimeEntry>

export const Playtime = Type.Record(Type.String(), PlaytimeEntry, {
  title: 'Playtime',
  description: 'Version ID → playtime; at most 2000 entries',
})

export const AffiliateClick = Type.Object(
  { url: WebAddress('Address of the page that the click led to'), affiliate_code_id: Id() },
  { title: 'AffiliateClick' },
)

/** Days of a project's statistics that nobody asked for otherwise. */
export const STATISTICS_DAYS = 30

export const StatisticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      default: STATISTICS_DAYS,
      description: 'Whole days (UTC) before the running one',
    }),
  ),
})

const SLICES_MAX = 1024
const SLICE_MINUTES_MIN = 60
/** As many as a list by `ids` may name. */
const PROJECT_IDS_MAX = 1000
const FILTER_VALUES_MAX = 256
const FILTER_TEXT_MAX = 512
const BUCKET_FIELDS_MAX = 32

/** Only the description says what is inside: `parseAnalyticsQuery` reads it and names its errors. */
const Inside = (described: TSchema, description: string) =>
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
      const { buckets, filters } = metricOf(metric)
      const asked = Closed({
        bucket_by: Type.Optional(Type.Array(Type.Enum([...buckets]), { maxItems: BUCKET_FIELDS_MAX })),
        filter_by: Type.Optional(
          Closed(Object.fromEntries(filters.map((name) => [name, Type.Optional(FilterValues(name))]))),
        ),
      })
      return [metric, Type.Optional(asked)]
    }),
  ),
)

export const AnalyticsQueryBody = Type.Object(
  {
    time_range: Inside(
      TimeRange,
      '`resolution` is `{slices: n}` for n equal parts, or `{minutes: n}` for parts of n minutes. ' +
        `At most ${SLICES_MAX} slices of at least ${SLICE_MINUTES_MIN} minutes.`,
    ),
    return_metrics: Inside(
      ReturnMetrics,
      'The metrics to return. `bucket_by` lists the fields that split them, `filter_by` has the accepted values of ' +
        'fields. Revenue metrics require the scope PAYOUTS_READ.',
    ),
    project_ids: Inside(
      Type.Array(Type.String({ maxLength: 64, pattern: NAME_PATTERN }), { maxItems: PROJECT_IDS_MAX }),
      'IDs or slugs; if absent or empty, all projects whose analytics the caller may see',
    ),
  },
  // `Inside` is optional for the validator: what is missing is named by the reader.
  { title: 'AnalyticsQuery', describedAs: { required: ['time_range', 'return_metrics'] } },
)

// A question is read strictly: inside `time_range`, `return_metrics` and the filters an unknown key is an error, because
// a typo there would silently give a wrong answer. Only own keys are read, so that `__proto__` is a key like another.

/** A question of the right form; which projects the viewer may ask about is checked later. */
export type AnalyticsQuery = {
  grid: SliceGrid
  /** In the order of `METRIC_KEYS`. */
  metrics: MetricRequest[]
  /** IDs or slugs as given, duplicates collapsed; undefined when absent or empty: all projects of the caller. */
  projectIds: string[] | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** @throws ApiError `validation_error` that names the first wrong field in dotted form. */
export function parseAnalyticsQuery(body: unknown): AnalyticsQuery {
  const fields = objectAt(body, 'body')
  return {
    grid: parseTimeRange(own(fields, 'time_range')),
    metrics: parseMetrics(own(fields, 'return_metrics')),
    projectIds: parseProjectIds(own(fields, 'project_ids')),
  }
}

/** The first metric asked for that needs the scope PAYOUTS_READ; to be checked before any query runs. */
export function metricNeedingPayoutsRead(question: AnalyticsQuery): MetricKey | undefined {
  return question.metrics.find(({ metric }) => METRICS[metric].needsPayoutsRead)?.metric
}

function parseTimeRange(value: unknown): SliceGrid {
  const range = strictObjectAt(value, 'time_range', ['start', 'end', 'resolution'])
  const startMs = parseTime(own(range, 'start'), 'time_range.start')
  const endMs = parseTime(own(range, 'end'), 'time_range.end')
  const resolution = parseResolution(own(range, 'resolution'))
  if (endMs <= startMs) throw validationError('time_range.end', 'must be later than start')
  const rangeMs = endMs - startMs
  if (rangeMs < SLICE_MINUTES_MIN * MINUTE_MS) {
    throw validationError('time_range.end', `the range must be at least ${SLICE_MINUTES_MIN} minutes long`)
  }
  checkResolution(resolution, rangeMs)
  return sliceGrid(startMs, endMs, resolution)
}

function parseTime(value: unknown, field: string): number {
  if (typeof value !== 'string') throw validationError(field, 'must be an RFC 3339 timestamp')
  const ms = parseRfc3339(value)
  if (ms === undefined) {
    throw validationError(field, 'must be an RFC 3339 timestamp of a day that exists, with Z or an offset')
  }
  return ms
}

function parseResolution(value: unknown): Resolution {
  const field = 'time_range.resolution'
  const object = strictObjectAt(value, field, ['slices', 'minutes'])
  const keys = Object.keys(object)
  if (keys.length !== 1) throw validationError(field, 'must have exactly one of slices and minutes')
  const key = keys[0] === 'slices' ? 'slices' : 'minutes'
  const number = own(object, key)
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) {
    throw validationError(`${field}.${key}`, 'must be an integer of at least 1')
  }
  return key === 'slices' ? { slices: number } : { minutes: number }
}

function checkResolution(resolution: Resolution, rangeMs: number): void {
  const isSlices = 'slices' in resolution
  const field = `time_range.resolution.${isSlices ? 'slices' : 'minutes'}`
  const count = isSlices ? resolution.slices : Math.ceil(rangeMs / MINUTE_MS / resolution.minutes)
  const minutes = isSlices ? rangeMs / MINUTE_MS / count : resolution.minutes
  if (count > SLICES_MAX) throw validationError(field, `asks for ${count} slices; the maximum is ${SLICES_MAX}`)
  // A product, not a quotient: exact for every range.
  const isTooShort = isSlices ? rangeMs < count * SLICE_MINUTES_MIN * MINUTE_MS : minutes < SLICE_MINUTES_MIN
  if (isTooShort) {
    throw validationError(field, `makes slices of ${minutes} minutes; the minimum is ${SLICE_MINUTES_MIN}`)
  }
}

function parseMetrics(value: unknown): MetricRequest[] {
  const asked = strictObjectAt(value, 'return_metrics', METRIC_KEYS)
  return METRIC_KEYS.filter((metric) => Object.hasOwn(asked, metric)).map((metric) => {
    const field = `return_metrics.${metric}`
    const object = strictObjectAt(asked[metric], field, ['bucket_by', 'filter_by'])
    return {
      metric,
      bucketBy: parseBuckets(metric, own(object, 'bucket_by'), `${field}.bucket_by`),
      filterBy: parseFilters(metric, own(object, 'filter_by'), `${field}.filter_by`),
    }
  })
}

function parseBuckets(metric: MetricKey, value: unknown, field: string): string[] {
  const { buckets } = metricOf(metric)
  const asked = listAt(value, field, BUCKET_FIELDS_MAX)
  for (const [i, name] of asked.entries()) {
    if (typeof name !== 'string' || !buckets.includes(name)) {
      throw validationError(`${field}.${i}`, `must be one of ${buckets.join(', ')}`)
    }
  }
  return buckets.filter((name) => asked.includes(name))
}

function parseFilters(metric: MetricKey, value: unknown, field: string): MetricRequest['filterBy'] {
  if (value === undefined) return {}
  const object = strictObjectAt(value, field, metricOf(metric).filters)
  const filters: Record<string, (string | boolean)[]> = {}
  for (const [name, list] of Object.entries(object)) {
    const values = listAt(list, `${field}.${name}`, FILTER_VALUES_MAX)
    const checked = values.map((item, i) => filterValue(name, item, `${field}.${name}.${i}`))
    const unique = [...new Set(checked)]
    if (unique.length > 0 && !isEveryFlag(unique)) filters[name] = unique
  }
  return filters
}

/** `[true, false]` is no filter; without this it would still split the country floor in two. */
function isEveryFlag(values: readonly (string | boolean)[]): boolean {
  return values.includes(true) && values.includes(false)
}

function filterValue(name: string, value: unknown, field: string): string | boolean {
  if (name === 'monetized') {
    if (typeof value !== 'boolean') throw validationError(field, 'must be true or false')
    return value
  }
  if (typeof value !== 'string' || value.length > FILTER_TEXT_MAX) {
    throw validationError(field, `must be a text of at most ${FILTER_TEXT_MAX} characters`)
  }
  if (name.endsWith('_id') && !isIdForm(value)) throw validationError(field, 'must be a base62 identifier')
  return value.toWellFormed().replaceAll('\0', '')
}

function parseProjectIds(value: unknown): string[] | undefined {
  const list = listAt(value, 'project_ids', PROJECT_IDS_MAX)
  for (const [i, id] of list.entries()) {
    // The characters of slugs include those of identifiers.
    if (typeof id !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(id)) {
      throw validationError(`project_ids.${i}`, 'must be the identifier or slug of a project')
    }
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
    if (!known.includes(key)) throw validationError(`${field}.${key}`, `is unknown; known are ${known.join(', ')}`)
  }
  return object
}

function objectAt(value: unknown, field: string): Fields {
  if (value === undefined) throw validationError(field, 'is required')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw validationError(field, 'must be an object')
  }
  return value as Fields
}

function own(object: Fields, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
