// Parses RFC 3339 timestamps strictly. `Date.parse` accepts other formats and converts 30 February to March.

const FORM = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,32}))?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * Returns milliseconds since 1970, without finer fractions; undefined if the text is not a timestamp with an offset, or if
 * the day or time does not exist. Leap seconds (`:60`) are invalid.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const offset = offsetMinutes(match[8] ?? 'Z')
  if (offset === undefined || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  // Date.UTC would convert the years 0-99 to 1900-1999.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const fraction = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction
}

function offsetMinutes(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(4, 6))
  if (hours > 23 || minutes > 59) return undefined
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
