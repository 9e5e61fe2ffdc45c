// The metrics of the analytics pages: keys and fields of the API, the breakdowns of each metric, and how amounts are shown.
import { formatUnits, parseUnits } from '#lib/decimal.ts'
import type { MetricKey } from '#ports/analytics-store/metrics.ts'
import type { Point } from '#ports/analytics-store/points.ts'
import { moneyText, perLanguage, shortNumber, wholeNumber } from '#web/ui/format.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { Language } from '#web/ui/languages.ts'

export const METRIC_NAMES = ['downloads', 'views', 'playtime', 'revenue'] as const
export type MetricName = (typeof METRIC_NAMES)[number]

const BREAKDOWNS = ['project', 'version', 'loader', 'game_version', 'country', 'domain', 'site_path'] as const
export type Breakdown = (typeof BREAKDOWNS)[number]

type Metric = {
  key: MetricKey
  /** Field of the points that contains the amount. */
  field: 'views' | 'downloads' | 'seconds' | 'revenue'
  icon: IconName
  breakdowns: readonly Breakdown[]
  /** Whether each event names a version. */
  hasVersions: boolean
}

export const METRICS: Readonly<Record<MetricName, Metric>> = {
  downloads: {
    key: 'project_downloads',
    field: 'downloads',
    icon: 'download',
    breakdowns: BREAKDOWNS,
    hasVersions: true,
  },
  views: {
    key: 'project_views',
    field: 'views',
    icon: 'eye',
    breakdowns: ['project', 'country', 'domain', 'site_path'],
    hasVersions: false,
  },
  playtime: {
    key: 'project_playtime',
    field: 'seconds',
    icon: 'clock',
    breakdowns: ['project', 'version', 'loader', 'game_version'],
    hasVersions: true,
  },
  revenue: { key: 'project_revenue', field: 'revenue', icon: 'coins', breakdowns: ['project'], hasVersions: false },
}

/** Whether the loaders or game versions of a metric are those of the counted versions, because few events name one. */
export const isDerived = (metric: MetricName, by: Breakdown | undefined): boolean =>
  metric === 'downloads' && (by === 'loader' || by === 'game_version')

/** Returns the field of `bucket_by` for a breakdown. */
export function bucketOf(metric: MetricName, by: Breakdown): string {
  if (by === 'project' || by === 'version' || isDerived(metric, by))
    return by === 'project' ? 'project_id' : 'version_id'
  return by
}

/** Adds up the amounts of a metric. Other metrics in the points are skipped. Revenue is added exactly. */
export function sumOf(points: readonly Point[], metric: MetricName): number {
  const { field } = METRICS[metric]
  const amounts = points.flatMap((point) => point[field] ?? [])
  if (metric !== 'revenue') return amounts.reduce<number>((sum, amount) => sum + Number(amount), 0)
  return Number(formatUnits(amounts.reduce<bigint>((sum, amount) => sum + parseUnits(String(amount)), 0n)))
}

const HOUR_SECONDS = 3600
const DIGITS = { numberingSystem: 'latn' } as const
const oneDecimal = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, minimumFractionDigits: 1, maximumFractionDigits: 1 }),
)
const wholePercent = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, style: 'percent', maximumFractionDigits: 0 }),
)
const finePercent = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, style: 'percent', maximumFractionDigits: 1 }),
)

/** Returns the value of an amount in a chart: hours for playtime. */
export const chartValue = (metric: MetricName, amount: number): number =>
  metric === 'playtime' ? Math.round((amount / HOUR_SECONDS) * 100) / 100 : amount

/** Formats a value of a chart: whole numbers, hours with one decimal place, revenue exactly. */
export function chartText(language: Language, metric: MetricName, value: number): string {
  if (metric === 'revenue') return moneyText(language, String(value), null)
  if (metric !== 'playtime') return wholeNumber(language, value)
  return oneDecimal(language).format(value)
}

/** Formats an amount in a table: `1,234`, `20.5 hr`, `312.40`. */
export function amountText(language: Language, metric: MetricName, amount: number): string {
  const text = chartText(language, metric, chartValue(metric, amount))
  return metric === 'playtime' ? language.t('numbers.hours', { hours: text }) : text
}

/** Formats the amount of a tile: `1.2M`. */
export function tileText(language: Language, metric: Exclude<MetricName, 'revenue'>, amount: number): string {
  if (metric === 'playtime' && amount < 10 * HOUR_SECONDS) return amountText(language, metric, amount)
  const text = shortNumber(language, Math.round(chartValue(metric, amount)))
  return metric === 'playtime' ? language.t('numbers.hours', { hours: text }) : text
}

/** Formats a share from 0 to 100, with a decimal place below 10. */
export const shareText = (language: Language, share: number): string =>
  (share < 10 ? finePercent : wholePercent)(language).format(share / 100)

/** Describes how an amount differs from that of the previous period: "Up 12%". */
export function changeText(language: Language, before: number, now: number): string {
  const { t } = language
  if (before === 0) return t(now === 0 ? 'numbers.change.same' : 'numbers.change.new')
  const share = (now - before) / before
  const format = wholePercent(language)
  if (Math.round(Math.abs(share) * 100) === 0) return t('numbers.change.same')
  return t(share > 0 ? 'numbers.change.up' : 'numbers.change.down', { percent: format.format(Math.abs(share)) })
}
