// Requests for affiliate codes and conversions.

import Type, { type Static } from 'typebox'
import { AmountInput, ExternalId } from '#features/people/payouts/requests.ts'
import { validationError } from '#lib/errors.ts'
import { Id, NamedObject, Nullable, Time } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { Offset } from '#platform/http/query-values.ts'
import { parseRfc3339 } from '#ports/analytics-store/rfc3339.ts'

export const LIST_MAX = 1_000
/** Maximum difference by which the clock of the caller can be ahead. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS

export const AffiliateCodesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIST_MAX, default: LIST_MAX, description: 'Maximum number of codes' }),
  ),
  offset: Offset,
})

const SOURCE_NAME = { min: 1, max: 255, visible: true }
const SourceName = Type.String({
  minLength: SOURCE_NAME.min,
  maxLength: SOURCE_NAME.max,
  description: 'Name of the site or page that uses the code',
})
const Share = Type.String({
  pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$',
  maxLength: 8,
  description: "The affiliate's share of a sale, from 0 to 1; null for the operator's default",
})

export const NewAffiliateCode = NamedObject('AffiliateCodeCreate', {
  source_name: SourceName,
  affiliate: Type.Optional(
    Nullable(Id('ID of the account that owns the code. Default: the caller; only admins can name another account')),
  ),
  revenue_split: Type.Optional(Nullable(Share)),
})
export type NewAffiliateCode = Static<typeof NewAffiliateCode>

/** @throws ApiError `validation_error` naming the field. */
export function checkAffiliateCode<Fields extends NewAffiliateCode | AffiliateCodePatch>(fields: Fields): Fields {
  if (fields.source_name !== undefined) checkText(fields.source_name, 'source_name', SOURCE_NAME)
  return fields
}

export const AffiliateCodePatch = Type.Object(
  { source_name: Type.Optional(SourceName), revenue_split: Type.Optional(Nullable(Share)) },
  {
    title: 'AffiliateCodeUpdate',
    description: 'Missing fields remain unchanged. Only admins can set `revenue_split`.',
  },
)
export type AffiliateCodePatch = Static<typeof AffiliateCodePatch>

export const NewConversion = NamedObject('ConversionCreate', {
  external_id: ExternalId,
  affiliate_code_id: Id(),
  at: Type.Optional(Time('Time of the sale (RFC 3339). Default: now')),
  amount: AmountInput,
})
export type NewConversion = Omit<Static<typeof NewConversion>, 'at'> & {
  /** Milliseconds since 1970; undefined for the current time. */
  at: number | undefined
}

/** @throws ApiError `validation_error` if the time is invalid or in the future. */
export function parseConversion({ at, ...fields }: Static<typeof NewConversion>, now: number): NewConversion {
  return { ...fields, at: at === undefined ? undefined : parseTime(at, now) }
}

function parseTime(text: string, now: number): number {
  const ms = parseRfc3339(text)
  if (ms === undefined) throw validationError('at', 'must be an RFC 3339 timestamp')
  if (ms > now + CLOCK_SKEW_MS) throw validationError('at', 'must not be in the future')
  return ms
}
