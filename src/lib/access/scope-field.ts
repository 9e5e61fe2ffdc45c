// A field that takes scopes: as the number of their bits, or as a list of their names.
import Type from 'typebox'
import { validationError } from '#lib/errors.ts'
import { readScopeNames, SCOPES, type ScopeBits } from './scopes.ts'

const NAME_LENGTH_MAX = 64

/** The schema of the field; `about` says what the scopes are for. */
export function scopeField(about: string) {
  const description = `${about}. The sum of their bits, or a list of their names`
  return Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      Type.Array(Type.String({ maxLength: NAME_LENGTH_MAX }), { maxItems: SCOPES.length }),
    ],
    { description },
  )
}

/** The bits that a field names. @throws ApiError `validation_error` naming the item that is no scope. */
export function toScopeBits(value: number | readonly string[], field: string): ScopeBits {
  if (typeof value === 'number') return value
  const { bits, unknown } = readScopeNames(value)
  const [first] = unknown
  if (first === undefined) return bits
  throw validationError(`${field}.${value.indexOf(first)}`, 'names no scope; names are in capitals, as USER_READ')
}
