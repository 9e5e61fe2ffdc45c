// Times of day in a time zone, as a person types them.

/** Whether the runtime knows a time zone. */
export function isTimeZone(zone: string): boolean {
  try {
    return zone !== '' && new Intl.DateTimeFormat('en', { timeZone: zone }) instanceof Intl.DateTimeFormat
  } catch {
    return false
  }
}

/**
 * Returns the time of `2026-03-01T18:30` in a time zone, in milliseconds. Returns undefined if the text has another form, and
 * for times that the zone skips when its clocks go forward. Of two equal times, it returns the first one.
 */
export function zonedTime(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) || !isTimeZone(zone)) return undefined
  const utc = Date.parse(`${text}:00Z`)
  if (!Number.isFinite(utc)) return undefined
  // The offset at the result is one of the offsets around it.
  const offsets = [utc - DAY_MS, utc + DAY_MS].map((at) => localOf(at, zone) - at)
  const times = offsets.map((offset) => utc - offset).filter((at) => localOf(at, zone) === utc)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Returns a time as `2026-03-01T18:30` in a time zone. */
export function toZoned(at: number, zone: string): string {
  return new Date(localOf(at, zone)).toISOString().slice(0, 16)
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The time that clocks in the zone show, as if it were UTC. Without seconds. */
function localOf(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return Date.parse(`${part['year']}-${part['month']}-${part['day']}T${part['hour']}:${part['minute']}:00Z`)
}
