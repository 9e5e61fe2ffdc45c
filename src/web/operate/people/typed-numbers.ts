// Numbers that operators type.

import { validationError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { numberOf } from '#web/kit/forms/fields.ts'

/** Returns the time after this number of days. @throws ApiError `validation_error` naming `days` */
export function timeAfter(days: string, nowMs: number): string {
  const count = numberOf(days)
  if (typeof count !== 'number' || count >= 100_000) throw validationError('days', 'must be a whole number, such as 30')
  return new Date(nowMs + count * DAY_MS).toISOString()
}
