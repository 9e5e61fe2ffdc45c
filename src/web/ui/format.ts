// Formats numbers, sizes, times and the names of files.
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { html, type Markup } from './html.ts'
import type { Language } from './languages.ts'

/** Caches one formatter per language, because formatters are slow to create. */
export function perLanguage<Format>(make: (tag: string) => Format): (language: Language) => Format {
  const formats = new Map<string, Format>()
  return ({ tag }) => {
    const format = formats.get(tag) ?? make(tag)
    formats.set(tag, format)
    return format
  }
}

// All languages use Latin digits, like the rest of the page.
const DIGITS = { numberingSystem: 'latn' } as const
const whole = perLanguage((tag) => new Intl.NumberFormat(tag, DIGITS))
const short = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, notation: 'compact', maximumFractionDigits: 1 }),
)
const share = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, style: 'percent', maximumFractionDigits: 1 }),
)
const relative = perLanguage((tag) => new Intl.RelativeTimeFormat(tag, { ...DIGITS, numeric: 'auto' }))
const day = perLanguage((tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, dateStyle: 'long', timeZone: 'UTC' }))
const datedDay = perLanguage((tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, dateStyle: 'medium', timeZone: 'UTC' }))
const month = perLanguage(
  (tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, month: 'long', year: 'numeric', timeZone: 'UTC' }),
)
const shortDay = perLanguage(
  (tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, month: 'short', day: 'numeric', timeZone: 'UTC' }),
)
const clock = perLanguage(
  (tag) =>
    new Intl.DateTimeFormat(tag, { ...DIGITS, hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' }),
)
const moment = perLanguage(
  (tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }),
)

/** Formats all digits with thousands separators: `2,481,930`. */
export function wholeNumber(language: Language, value: number): string {
  return whole(language).format(value)
}

/** Formats a short number for lists: `2.5M`. Put the whole number into `title`. */
export function shortNumber(language: Language, value: number): string {
  return short(language).format(value)
}

const amount = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, minimumFractionDigits: 2, maximumFractionDigits: 8 }),
)

/** Formats an amount of money, a decimal string, exactly: `1,234.50 EUR`. `currency` is the name that the operator set. */
export function moneyText(language: Language, value: string, currency: string | null): string {
  const text = amount(language).format(value as Intl.StringNumericLiteral)
  return currency === null ? text : `${text}\u00a0${currency}`
}

/** Formats a share of 1: `12.5%`. */
export function percentage(language: Language, value: number): string {
  return share(language).format(value)
}

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB'] as const
const bytesText = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, style: 'unit', unit: 'byte', unitDisplay: 'long' }),
)
const tenths = perLanguage((tag) => new Intl.NumberFormat(tag, { ...DIGITS, maximumFractionDigits: 1 }))

/** Formats a number of bytes in the largest unit with a value of at least 1, by powers of 1,024: `1.8 MiB`. */
export function fileSize(language: Language, bytes: number): string {
  let step = 0
  // A value that would be rounded up to 1,024 uses the next unit.
  while (step < SIZES.length && Number((bytes / 1024 ** step).toFixed(step < 2 ? 0 : 1)) >= 1024) step += 1
  const unit = SIZES[step - 1]
  if (unit === undefined) return bytesText(language).format(bytes)
  const value = bytes / 1024 ** step
  return `${step < 2 ? wholeNumber(language, Math.round(value)) : tenths(language).format(value)} ${unit}`
}

/** Formats the UTC time of the day for axes of plots: `18:00`. */
export function clockText(language: Language, at: Date): string {
  return clock(language).format(at)
}

/** Formats the UTC day and time for tables of plots: `14 Mar, 18:00`. */
export function shortTimeText(language: Language, at: Date): string {
  return `${shortDayText(language, at)}, ${clockText(language, at)}`
}

/** Formats the UTC day: `14 March 2021`. */
export function dayText(language: Language, at: Date): string {
  return day(language).format(at)
}

/** Renders an amount of money for a tile, with the currency in small print. */
export function moneyTile(language: Language, value: string, currency: string | null): Markup {
  return html`${moneyText(language, value, null)}${currency !== null && html` <small>${currency}</small>`}`
}

/** Formats the UTC day for labels that need the year: `14 Mar 2021`. */
export function datedDayText(language: Language, at: Date): string {
  return datedDay(language).format(at)
}

/** Formats the UTC month: `March 2021`. */
export function monthText(language: Language, at: Date): string {
  return month(language).format(at)
}

/** Formats the UTC day for axes and tables of plots, which name the year elsewhere: `14 Mar`. */
export function shortDayText(language: Language, at: Date): string {
  return shortDay(language).format(at)
}

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['year', 365.25 * DAY_MS],
  ['month', 30.44 * DAY_MS],
  ['week', 7 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
]

/** Formats a relative time: `3 days ago`, `in 2 hours`, `now`. `nowMs`: milliseconds since 1970. */
export function relativeTime(language: Language, at: Date, nowMs: number): string {
  const distance = at.getTime() - nowMs
  const [unit, ms] = STEPS.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 0]
  return relative(language).format(ms === 0 ? 0 : Math.trunc(distance / ms), unit)
}

/** Renders a relative time with the exact time for machines and as a tooltip. */
export function timeAgo(language: Language, at: Date, nowMs: number): Markup {
  const exact = moment(language).format(at)
  return html`<time datetime="${at.toISOString()}" title="${exact}">${relativeTime(language, at, nowMs)}</time>`
}

/** Renders a relative time with the day as a tooltip, for lists, where it is shorter. */
export function dayAgo(language: Language, at: Date, nowMs: number): Markup {
  return html`<span title="${dayText(language, at)}">${relativeTime(language, at, nowMs)}</span>`
}

/** Renders a time to the second. */
export function exactTime(language: Language, at: Date): Markup {
  return html`<time datetime="${at.toISOString()}">${moment(language).format(at)}</time>`
}

/** Renders a short number with the whole number as a tooltip. */
export function countOf(language: Language, value: number): Markup {
  const [number, all] = [shortNumber(language, value), wholeNumber(language, value)]
  return number === all ? html`${number}` : html`<span title="${all}">${number}</span>`
}

/** Replaces characters that browsers do not show, or that change the direction of text, by their code. */
export function visibleName(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|[^\S ]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    return `\u27E8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27E9`
  })
}

/** Returns the name of a country, or its code if it has no name. */
export function countryName(language: Language, code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (new Intl.DisplayNames(language.tag, { type: 'region' }).of(code) ?? code) : code
}
