// Requests of operators for revenue and payouts. Amounts are decimal strings.

import Type, { type Static } from 'typebox'
import { AMOUNT_PATTERN, parseUnits } from '#lib/decimal.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { DAY_MS } from '#lib/time.ts'

export const AmountInput = Type.String({
  pattern: AMOUNT_PATTERN,
  maxLength: 21,
  description: 'Amount as a decimal string',
})
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The operator's ID of this record. Repeating a request with the same ID does not record it twice",
})

/** Returns 409 for an external ID that is already recorded with different content. */
export function differentContent(): ApiError {
  return new ApiError('conflict', 'This external_id was already recorded with different content')
}

export const PayoutStatus = Type.Enum(['in-transit', 'success', 'cancelled', 'failed'])

export const NewRevenue = NamedObject('RevenueCreate', {
  external_id: ExternalId,
  day: Type.String({
    maxLength: 10,
    describedAs: { format: 'date' },
    description: 'Day in UTC, as YYYY-MM-DD; not in the future',
  }),
  amount: AmountInput,
})

export type NewRevenue = {
  externalId: string
  /** Midnight UTC, in milliseconds since 1970. */
  day: number
  units: bigint
}

/** @throws ApiError `validation_error` naming the field. */
export function parseRevenue({ external_id, day, amount }: Static<typeof NewRevenue>, now: number): NewRevenue {
  const ms = parseDay(day, now)
  requirePositive(amount)
  return { externalId: external_id, day: ms, units: parseUnits(amount) }
}

/** Returns midnight UTC of a day. @throws ApiError `validation_error` if the day does not exist or is in the future. */
function parseDay(text: string, now: number): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw validationError('day', 'must be a date in the form YYYY-MM-DD, such as 2026-01-31')
  if (ms > Math.floor(now / DAY_MS) * DAY_MS) throw validationError('day', 'must not be in the future')
  return ms
}

export const NewPayout = NamedObject('PayoutCreate', {
  external_id: ExternalId,
  user_id: Id(),
  amount: AmountInput,
  fee: Type.Optional(AmountInput),
  status: Type.Optional(Type.Enum(['in-transit', 'success'], { description: 'Default: success' })),
})

export type NewPayout = ReturnType<typeof parsePayout>

/** @throws ApiError `validation_error` naming the field. */
export function parsePayout(input: Static<typeof NewPayout>) {
  const { external_id, user_id, amount, fee = '0', status = 'success' } = input
  requirePositive(amount)
  if (!isIdForm(user_id)) throw validationError('user_id', 'must be the ID of an account')
  return { externalId: external_id, userId: user_id, amount, fee, status }
}

function requirePositive(amount: string): void {
  if (parseUnits(amount) === 0n) throw validationError('amount', 'must be greater than 0')
}

export const PayoutPatch = NamedObject('PayoutUpdate', { status: PayoutStatus })
export type PayoutPatch = Static<typeof PayoutPatch>
