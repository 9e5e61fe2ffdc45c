// Requests of granted request rates.
import { isIP } from 'node:net'
import Type, { type Static } from 'typebox'
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
  { title: 'RateLimitInput', description: 'Exactly one of `token_id` and `address_range` is required' },
)

/** The recipient of a granted rate: a token, or every IP address in a range. */
export type GrantSubject = { tokenId: string } | { addressRange: string }

/** @throws ApiError `validation_error` unless exactly one of the two is set, or if the range is invalid. */
export function toGrantSubject({ token_id, address_range }: Static<typeof RateLimitInput>): GrantSubject {
  if (token_id != null && address_range == null) return { tokenId: token_id }
  if (token_id == null && address_range != null) return { addressRange: checkRange(address_range) }
  throw validationError('token_id', 'must be set if address_range is not set, and must not be set otherwise')
}

/** Validates an IP address or a range. */
function checkRange(text: string): string {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  const bits = family === 6 ? 128 : 32
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  // A zone names a network interface of one machine. IPv4 in IPv6 notation would never match: Depot stores IPv4.
  const isOdd = address.includes('%') || (family === 6 && address.includes('.'))
  if (family === 0 || !isPrefix || rest.length > 0 || isOdd)
    throw validationError('address_range', 'must be an IP address or a range such as 192.0.2.0/24')
  return text
}
