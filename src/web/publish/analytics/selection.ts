// The selection in the URL of an analytics page: metric, days, step and breakdown; and its queries of the API.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { dayText, wholeNumber } from '#web/ui/format.ts'
import type { FormError } from '#web/ui/parts/fields.ts'
import { type Breakdown, bucketOf, isDerived, METRIC_NAMES, METRICS, type MetricName } from './metrics.ts'

/** Lengths of a column in minutes. */
export const STEPS = { hour: 60, day: 1440, week: 10_080 } as const
export type Step = keyof typeof STEPS
const STEP_NAMES = Object.keys(STEPS) as Step[]

/** Periods in days that the page links. */
export const SPANS = [7, 30, 90, 365] as const
const DEFAULT_SPAN = 30
/** Limit of the API. */
export const COLUMNS_MAX = 1024
const SEARCH_MAX = 100

export const SORTS = ['-value', 'value', 'name', '-name', '-change', 'change'] as const
export type Sort = (typeof SORTS)[number]

/** Keys of the query, in the order of links. */
const KEYS = ['m', 'project', 'version', 'from', 'to', 'step', 'by', 'compare', 'sort', 'q'] as const
export type Typed = Readonly<Record<(typeof KEYS)[number], string>>

/** The possible selections of a page. */
export type Offer = {
  metrics: readonly MetricName[]
  /** Breakdowns that the page does not have, because it shows only one of their parts. */
  without: readonly Breakdown[]
}

export type Selection = {
  metric: MetricName
  by: Breakdown | undefined
  /** First and last day, in the form of the URL. */
  from: string
  to: string
  days: number
  startMs: number
  /** The end of the last day, or of the current hour. */
  endMs: number
  step: Step
  isCompared: boolean
  sort: Sort
  search: string
}

/** Reads the keys of the URL. */
export const typedOf = ({ query }: Pick<OwnRequest, 'query'>): Typed =>
  Object.fromEntries(KEYS.map((key) => [key, query(key).trim().slice(0, SEARCH_MAX)])) as Typed

/** Returns the breakdowns of a metric on a page. */
export const breakdownsOf = (metric: MetricName, { without }: Offer): Breakdown[] =>
  METRICS[metric].breakdowns.filter((by) => {
    // A version has the same loaders and game versions for each of its downloads.
    const isSame = isDerived(metric, by) && without.includes('version')
    return !isSame && !without.includes(by)
  })

/** Returns the URL of a page with changed values. A breakdown that the metric does not have is left out. */
export function hrefOf(path: string, typed: Typed, changes: Partial<Typed>): string {
  const next = { ...typed, sort: '', q: '', ...changes }
  const metric = METRIC_NAMES.find((name) => name === next.m) ?? 'downloads'
  const fits = METRICS[metric].breakdowns.some((by) => by === next.by)
  return withQuery(path, { ...next, by: fits ? next.by : '' })
}

type Read = { selection: Selection; errors?: never } | { selection?: never; errors: FormError[] }
type Wrong = (field: string | undefined, message: string) => void

/** Returns the selection, or what is wrong with the URL. */
export function readSelection({ page }: Pick<OwnRequest, 'page'>, typed: Typed, offer: Offer): Read {
  const errors: FormError[] = []
  const wrong: Wrong = (field, message) => void errors.push({ field, message })
  const { metric, by } = readMetric(page, { typed, offer, wrong })
  const period = readPeriod(page, typed, wrong)
  const days = period === undefined ? 1 : Math.round((period.toMs - period.fromMs) / DAY_MS) + 1
  const step = typed.step === '' ? stepFor(days) : STEP_NAMES.find((name) => name === typed.step)
  if (step === undefined) wrong('step', page.language.t('numbers.error.step'))
  if (errors.length > 0 || metric === undefined || period === undefined || step === undefined) return { errors }
  const { fromMs, toMs } = period
  const columns = Math.ceil((days * STEPS.day) / STEPS[step])
  if (columns > COLUMNS_MAX) {
    const values = { columns: wholeNumber(page.language, columns), max: wholeNumber(page.language, COLUMNS_MAX) }
    wrong(step === 'week' ? 'from' : 'step', page.language.t('numbers.error.columns', values))
    return { errors }
  }
  return {
    selection: {
      metric,
      by,
      from: isoDay(fromMs),
      to: isoDay(toMs),
      days,
      startMs: fromMs,
      endMs: Math.min(toMs + DAY_MS, (Math.floor(page.now / HOUR_MS) + 1) * HOUR_MS),
      step,
      isCompared: typed.compare === 'before',
      sort: SORTS.find((name) => name === typed.sort) ?? '-value',
      search: typed.q,
    },
  }
}

type Page = OwnRequest['page']

/** Returns the metric and the breakdown: without a name the first that the page has. */
function readMetric({ language: { t } }: Page, { typed, offer, wrong }: { typed: Typed; offer: Offer; wrong: Wrong }) {
  const metric = METRIC_NAMES.find((name) => name === (typed.m || offer.metrics[0]))
  if (metric === undefined) wrong(undefined, t('numbers.error.metric'))
  else if (!offer.metrics.includes(metric))
    wrong(undefined, t(typed.version === '' ? 'numbers.error.no-revenue' : 'numbers.error.not-by-version'))
  const offered = metric === undefined ? [] : breakdownsOf(metric, offer)
  const by = typed.by === '' ? offered[0] : offered.find((name) => name === typed.by)
  if (by === undefined && typed.by !== '') wrong(undefined, t('numbers.error.breakdown'))
  return { metric, by }
}

/** Returns the starts of the first and the last day. Default: 30 days until the last day, which is today. */
function readPeriod({ now, language }: Page, typed: Typed, wrong: Wrong): { fromMs: number; toMs: number } | undefined {
  const { t } = language
  const todayMs = Math.floor(now / DAY_MS) * DAY_MS
  const toMs = typed.to === '' ? todayMs : parseDay(typed.to)
  const fromMs = typed.from === '' ? (toMs ?? todayMs) - (DEFAULT_SPAN - 1) * DAY_MS : parseDay(typed.from)
  if (fromMs === undefined) wrong('from', t('numbers.error.from'))
  if (toMs === undefined) wrong('to', t('numbers.error.to'))
  const today = dayText(language, new Date(todayMs))
  if (typed.from !== '' && fromMs !== undefined && fromMs > todayMs)
    wrong('from', t('numbers.error.from-future', { today }))
  else if (toMs !== undefined && toMs > todayMs) wrong('to', t('numbers.error.to-future', { today }))
  else if (fromMs !== undefined && toMs !== undefined && toMs < fromMs) wrong('to', t('numbers.error.reversed'))
  return fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs }
}

/** Returns the start of a day, or undefined if the text does not name a day since 1970. */
function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00.000Z`)
  // `Date.parse` reads 31 June as 1 July.
  return Number.isNaN(ms) || ms < 0 || isoDay(ms) !== text ? undefined : ms
}

export const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Returns a step with a readable number of columns. */
function stepFor(days: number): Step {
  if (days <= 2) return 'hour'
  return days <= 120 ? 'day' : 'week'
}

export type AnalyticsBody = { time_range: object; return_metrics: object; project_ids?: readonly string[] }

/** The projects and the version of a query. */
export type Counted = {
  /** `project_ids` of a metric; undefined: all projects whose analytics the user can see. */
  namesFor: (metric: MetricName) => readonly string[] | undefined
  version: string | undefined
}

/** Returns the body of `POST /v3/analytics` with the amounts of the chart. */
export function chartBody(of: Selection, counted: Counted): AnalyticsBody {
  return bodyOf(of, { counted, metric: of.metric, resolution: { minutes: STEPS[of.step] } })
}

/** Returns the body of `POST /v3/analytics` with the amounts of the table. */
export function tableBody(of: Selection, counted: Counted): AnalyticsBody {
  const { metric, by } = of
  return bodyOf(of, {
    counted,
    metric,
    resolution: { slices: 1 },
    buckets: by === undefined ? [] : [bucketOf(metric, by)],
  })
}

/** Returns `return_metrics` of the total amounts of metrics. */
export const totalsOf = (metrics: readonly MetricName[], counted: Counted): object =>
  Object.fromEntries(metrics.map((metric) => [METRICS[metric].key, optionsOf([], counted)]))

type Body = { counted: Counted; metric: MetricName; resolution: object; buckets?: readonly string[] }

const optionsOf = (buckets: readonly string[], { version }: Counted): object => ({
  bucket_by: buckets,
  ...(version === undefined ? {} : { filter_by: { version_id: [version] } }),
})

function bodyOf({ startMs, endMs }: Selection, { counted, metric, resolution, buckets = [] }: Body): AnalyticsBody {
  const names = counted.namesFor(metric)
  return {
    time_range: { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString(), resolution },
    return_metrics: { [METRICS[metric].key]: optionsOf(buckets, counted) },
    ...(names === undefined ? {} : { project_ids: names }),
  }
}

/** Returns the same days of the previous period: as long, and as far into its last day. */
export function previousOf(of: Selection): Selection {
  const move = of.days * DAY_MS
  return { ...of, startMs: of.startMs - move, endMs: of.endMs - move }
}

/** Whether the last column is cut off, because its time is not over. */
export const isPartial = ({ startMs, endMs, step }: Selection): boolean =>
  (endMs - startMs) % (STEPS[step] * MINUTE_MS) !== 0
