// Parses RFC 3339 timestamps strictly. `Date.parse` accepts other formats and converts 30 February to March.
import { MINUTE_MS } from '#lib/time.ts'

const FORM = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,32}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/**
 * Returns milliseconds since 1970, without finer fractions; undefined if the text is not a timestamp with an offset, or if
 * the day or time does not exist. Leap seconds (`:60`) are invalid.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, day, time, fraction = '', sign, hours = 0, minutes = 0] = match
  const local = `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
  const ms = Date.parse(local)
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== local) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
  return sign === '-' ? ms + offsetMs : ms - offsetMs
}
