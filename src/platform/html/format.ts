// Numbers, sizes and times as a language writes them.
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { html, type Markup } from './html.ts'
import type { Language } from './languages.ts'

/** Makers of formats are slow to build and quick to use: one for each language and purpose. */
function perLanguage<Format>(make: (tag: string) => Format): (language: Language) => Format {
  const made = new Map<string, Format>()
  return ({ tag }) => {
    const format = made.get(tag) ?? make(tag)
    made.set(tag, format)
    return format
  }
}

// Digits stay those of the rest of the page, whatever a language would choose.
const DIGITS = { numberingSystem: 'latn' } as const
const whole = perLanguage((tag) => new Intl.NumberFormat(tag, DIGITS))
const short = perLanguage(
  (tag) => new Intl.NumberFormat(tag, { ...DIGITS, notation: 'compact', maximumFractionDigits: 1 }),
)
const relative = perLanguage((tag) => new Intl.RelativeTimeFormat(tag, { ...DIGITS, numeric: 'auto' }))
const day = perLanguage((tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, dateStyle: 'long', timeZone: 'UTC' }))
const shortDay = perLanguage(
  (tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, month: 'short', day: 'numeric', timeZone: 'UTC' }),
)
const moment = perLanguage(
  (tag) => new Intl.DateTimeFormat(tag, { ...DIGITS, dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }),
)

/** All digits, with the marks between thousands: `2,481,930`. */
export function wholeNumber(language: Language, value: number): string {
  return whole(language).format(value)
}

/** Few digits, for lists: `2.5M`. Put the whole number into `title`. */
export function shortNumber(language: Language, value: number): string {
  return short(language).format(value)
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const sizes = SIZES.map((unit, index) =>
  perLanguage(
    (tag) =>
      new Intl.NumberFormat(tag, {
        ...DIGITS,
        style: 'unit',
        unit,
        unitDisplay: index === 0 ? 'long' : 'short',
        maximumFractionDigits: index < 2 ? 0 : 1,
      }),
  ),
)

/** A number of bytes in the largest unit that leaves at least one, by powers of 1000: `1.8 MB`. */
export function fileSize(language: Language, bytes: number): string {
  let step = 0
  // What would be rounded up to a thousand of a unit is one of the next.
  while (step < SIZES.length - 1 && Number((bytes / 1000 ** step).toFixed(step < 2 ? 0 : 1)) >= 1000) step += 1
  return sizes[step]?.(language).format(bytes / 1000 ** step) ?? ''
}

/** `14 March 2021`, of the day in UTC. */
export function dayText(language: Language, at: Date): string {
  return day(language).format(at)
}

/** `14 Mar`, for axes and tables of plots. */
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

/** `3 days ago`, `in 2 hours`, `now`. `nowMs`: milliseconds since 1970. */
export function relativeTime(language: Language, at: Date, nowMs: number): string {
  const distance = at.getTime() - nowMs
  const [unit, ms] = STEPS.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 0]
  return relative(language).format(ms === 0 ? 0 : Math.trunc(distance / ms), unit)
}

/** A moment, as far away as it is, with the exact one for machines and behind the pointer. */
export function timeAgo(language: Language, at: Date, nowMs: number): Markup {
  const exact = moment(language).format(at)
  return html`<time datetime="${at.toISOString()}" title="${exact}">${relativeTime(language, at, nowMs)}</time>`
}

/** A moment to the second, where being exact matters. */
export function exactTime(language: Language, at: Date): Markup {
  return html`<time datetime="${at.toISOString()}">${moment(language).format(at)}</time>`
}

/** A short number with the whole one behind the pointer. */
export function countOf(language: Language, value: number): Markup {
  return html`<data value="${value}" title="${wholeNumber(language, value)}">${shortNumber(language, value)}</data>`
}
