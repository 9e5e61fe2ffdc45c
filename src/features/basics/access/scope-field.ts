// A field with scopes, as the sum of their bits or a list of their names.
import Type from 'typebox'
import { validationError } from '#lib/errors.ts'
import { readScopeNames, SCOPES, type ScopeBits } from './scopes.ts'

const NAME_LENGTH_MAX = 64

/** Returns the schema of the field. `about` describes its purpose. */
export function scopeField(about: string) {
  const description = `${about}. A list of their names; the sum of their bits is also accepted`
  const names = Type.Array(Type.String({ maxLength: NAME_LENGTH_MAX }), { maxItems: SCOPES.length })
  // Generators of clients cannot express a number or a list.
  return Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), names], {
    description,
    describedAs: { anyOf: [names] },
  })
}

/** Returns the bits of the scopes. @throws ApiError `validation_error` with the first item that is not a scope. */
export function toScopeBits(value: number | readonly string[], field: string): ScopeBits {
  if (typeof value === 'number') return value
  const { bits, unknown } = readScopeNames(value)
  const [first] = unknown
  if (first === undefined) return bits
  throw validationError(`${field}.${value.indexOf(first)}`, 'is not a scope; names are in capitals, such as USER_READ')
}
