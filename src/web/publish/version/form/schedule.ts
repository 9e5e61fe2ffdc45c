// The time of a scheduled publication, as a person enters it: a day, a time and a time zone.
import { validationError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { isTimeZone, toZoned, zonedTime } from '#lib/zoned-time.ts'

/** @throws ApiError `validation_error` for a time that is invalid, or that the clocks of the zone skip. */
export function instantOf({ day, time, zone }: { day: string; time: string; zone: string }): Date {
  if (!isTimeZone(zone)) throw validationError('zone', 'is not a known time zone')
  if (!isDay(day)) throw validationError('day', 'must be a date such as 2026-11-27')
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(time)) throw validationError('time', 'must be a time such as 18:00')
  const at = zonedTime(`${day}T${time}`, zone)
  if (at === undefined) {
    throw validationError(
      'time',
      `does not exist on ${day} in ${zone}, because clocks are set forward. Choose another time`,
    )
  }
  return new Date(at)
}

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`)
  return /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(at) && new Date(at).toISOString().startsWith(text)
}

/** Returns the offset of a time zone as `UTC+1` or `UTC−3:30`, and undefined for an unknown zone. */
export function offsetText(zone: string, now: number): string | undefined {
  if (!isTimeZone(zone)) return undefined
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const minutes = (Date.parse(`${toZoned(minute, zone)}:00Z`) - minute) / MINUTE_MS
  if (minutes === 0) return 'UTC'
  const rest = Math.abs(minutes) % 60
  const hours = Math.floor(Math.abs(minutes) / 60)
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
