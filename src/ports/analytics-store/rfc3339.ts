// Reading RFC 3339 timestamps strictly: `Date.parse` takes many other forms and turns 30 February into March.

const FORM = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,32}))?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * Milliseconds since 1970, finer fractions cut; undefined for whatever is not a timestamp with an offset, or names a
 * day or time that does not exist. A leap second (`:60`) is refused: no event is ever recorded in one.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const offset = offsetMinutes(match[8] ?? 'Z')
  if (offset === undefined || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  // Not Date.UTC: that reads the years 0-99 as 1900-1999.
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
