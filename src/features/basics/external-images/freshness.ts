// Times until Depot fetches an image of another host again.
import type { IncomingHttpHeaders } from 'node:http'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'

const FRESH_MS_MIN = 5 * MINUTE_MS
const FRESH_MS_MAX = 7 * DAY_MS
/** For sources that do not name a time. */
const FRESH_MS_DEFAULT = HOUR_MS
const RETRY_MS_MAX = DAY_MS

/**
 * Returns the time in milliseconds for which an image is fresh, by `Cache-Control` or `Expires` of the source (RFC 9111,
 * 4.2.1): at least 5 minutes and at most 7 days.
 */
export function freshMs({ 'cache-control': control = '', expires, date, age }: IncomingHttpHeaders): number {
  return Math.min(Math.max(lifetimeOf(control, expires, date, age), FRESH_MS_MIN), FRESH_MS_MAX)
}

function lifetimeOf(control: string, expires?: string, date?: string, age?: string): number {
  const directives = control.toLowerCase().slice(0, 1_000)
  if (/\bno-(?:store|cache)\b/.test(directives)) return 0
  const seconds = /\bs-maxage="?(\d{1,10})/.exec(directives)?.[1] ?? /\bmax-age="?(\d{1,10})/.exec(directives)?.[1]
  if (seconds !== undefined) return (Number(seconds) - (Number(age) || 0)) * 1000
  if (expires === undefined) return FRESH_MS_DEFAULT
  // An invalid time, often `0`, means that the response has expired.
  return (Date.parse(expires) || 0) - (Date.parse(date ?? '') || Date.now())
}

/** Returns the time in milliseconds until the next attempt: 1 minute after the first failure, doubled up to 1 day. */
export function retryMs(failures: number): number {
  return Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), RETRY_MS_MAX)
}
