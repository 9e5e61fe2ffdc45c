// Periods for which operators see figures.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { Span } from './queries.ts'

/** Retention of the figures per minute, of the figures per hour, and of server errors. */
export const MINUTES_RETAINED_MS = DAY_MS
export const HOURS_RETAINED_MS = 90 * DAY_MS

/** Period → the figures that it reads, and the steps into which it is divided. */
export const PERIODS = {
  '1h': { lengthMs: HOUR_MS, span: 'minute', stepMs: MINUTE_MS },
  '24h': { lengthMs: DAY_MS, span: 'minute', stepMs: 15 * MINUTE_MS },
  '7d': { lengthMs: 7 * DAY_MS, span: 'hour', stepMs: 2 * HOUR_MS },
  '30d': { lengthMs: 30 * DAY_MS, span: 'hour', stepMs: 8 * HOUR_MS },
  '90d': { lengthMs: 90 * DAY_MS, span: 'hour', stepMs: DAY_MS },
} as const satisfies Record<string, { lengthMs: number; span: Span; stepMs: number }>

export type Period = keyof typeof PERIODS

export const PERIOD_NAMES = Object.keys(PERIODS) as Period[]

/** Returns the whole steps of the period that ends with the current step. */
export function rangeOf(period: Period, now: number): { since: Date; until: Date; span: Span; stepMs: number } {
  const { lengthMs, span, stepMs } = PERIODS[period]
  const until = (Math.floor(now / stepMs) + 1) * stepMs
  return { since: new Date(until - lengthMs), until: new Date(until), span, stepMs }
}
