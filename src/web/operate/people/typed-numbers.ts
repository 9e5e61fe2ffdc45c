// Numbers that operators type.
import { DAY_MS } from '#lib/time.ts'

/** Returns a number, or the text as it is, which a schema refuses with its bounds. */
export const numberOf = (text: string): number | string => (/^\d{1,7}$/.test(text.trim()) ? Number(text) : text)

/** Returns the time after this number of days, or the text as it is, which a command refuses. */
export function timeAfter(days: string, nowMs: number): string {
  const count = numberOf(days)
  return typeof count === 'number' && count < 100_000
    ? new Date(nowMs + count * DAY_MS).toISOString()
    : days.slice(0, 64)
}
