// Requests of granted request rates.
import Type, { type Static } from 'typebox'
import { checkAddressRange } from '#lib/address-range.ts'
import { validationError } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'

export const RateLimitInput = Type.Object(
  {
    token_id: Maybe(Type.String({ minLength: 1, maxLength: 64 })),
    address_range: Maybe(
      Type.String({ minLength: 1, maxLength: 64, description: 'IP address or range, such as 192.0.2.0/24' }),
    ),
    requests_per_minute: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    note: Type.Optional(Type.String({ maxLength: 500, description: 'Note for operators' })),
  },
  { title: 'RateLimitCreate', description: 'Exactly one of `token_id` and `address_range` is required' },
)

/** The recipient of a granted rate: a token, or every IP address in a range. */
export type GrantSubject = { tokenId: string } | { addressRange: string }

/** @throws ApiError `validation_error` unless exactly one of the two is set, or if the range is invalid. */
export function toGrantSubject({ token_id, address_range }: Static<typeof RateLimitInput>): GrantSubject {
  if (token_id != null && address_range == null) return { tokenId: token_id }
  if (token_id == null && address_range != null)
    return { addressRange: checkAddressRange(address_range, 'address_range') }
  throw validationError('token_id', 'must be set if address_range is not set, and must not be set otherwise')
}
