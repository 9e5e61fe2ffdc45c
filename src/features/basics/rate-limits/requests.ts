// What requests about granted request rates bring.
import { isIP } from 'node:net'
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'

export const RateLimitInput = Type.Object(
  {
    token_id: Maybe(Type.String({ minLength: 1, maxLength: 64 })),
    address_range: Maybe(
      Type.String({ minLength: 1, maxLength: 64, description: 'An address or a range: 192.0.2.0/24' }),
    ),
    requests_per_minute: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    note: Type.Optional(Type.String({ maxLength: 500, description: 'Free text, for operators' })),
  },
  { title: 'RateLimitInput', description: 'Set exactly one of `token_id` and `address_range`' },
)

/** For whom a rate is granted: a token, or every address in a range. */
export type GrantSubject = { tokenId: string } | { addressRange: string }

/** @throws ApiError `validation_error` unless one of the two is given, and for what is no range. */
export function toGrantSubject({ token_id, address_range }: Static<typeof RateLimitInput>): GrantSubject {
  if (token_id != null && address_range == null) return { tokenId: token_id }
  if (token_id == null && address_range != null) return { addressRange: checkRange(address_range) }
  throw validationError('token_id', 'must be given, or address_range, and not both')
}

/** An address alone stands for itself. */
function checkRange(text: string): string {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  const bits = family === 6 ? 128 : 32
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  // A zone names an interface of one machine. IPv4 written as IPv6 would match no client: these are taken as IPv4.
  const isOdd = address.includes('%') || (family === 6 && address.includes('.'))
  if (family === 0 || !isPrefix || rest.length > 0 || isOdd) {
    throw validationError('address_range', 'must be an address or a range such as 192.0.2.0/24')
  }
  return text
}
