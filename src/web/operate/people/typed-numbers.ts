// Numbers that operators type.

import { DAY_MS } from '#lib/time.ts'
import { numberOf } from '#web/kit/forms/fields.ts'

/** Returns the time after this number of days, or the text as it is, which a command refuses. */
export function timeAfter(days: string, nowMs: number): string {
  const count = numberOf(days)
  return typeof count === 'number' && count < 100_000
    ? new Date(nowMs + count * DAY_MS).toISOString()
    : days.slice(0, 64)
}
