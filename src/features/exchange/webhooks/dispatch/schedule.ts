// When a failed delivery is tried again.
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'

/** Pauses after each failed attempt: nine attempts in a day. */
const PAUSES_MS = [5_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 10 * HOUR_MS]
/** Receivers that fail together are not called together again. */
const JITTER = 0.2
const RETRY_AFTER_MAX_MS = HOUR_MS

/**
 * Returns when the next attempt is due after this number of failed ones; undefined after the last one.
 * @param retryAfterMs what the receiver asks for.
 * @param random from 0 to 1.
 */
export function nextAttemptAt(
  attempts: number,
  {
    now,
    retryAfterMs = 0,
    random = Math.random(),
  }: { now: number; retryAfterMs?: number | undefined; random?: number },
): Date | undefined {
  const pause = PAUSES_MS[attempts - 1]
  if (pause === undefined) return undefined
  const scheduled = pause * (1 - JITTER + 2 * JITTER * random)
  return new Date(now + Math.max(scheduled, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS)))
}

/** Returns the pause that `Retry-After` (RFC 9110) asks for: seconds or a date. Undefined for anything else. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
