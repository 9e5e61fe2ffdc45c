// Creates a predicate from a field, an operator and values, and checks their types.

import { type Field, findField } from './fields.ts'
import { type FilterSource, filterError, quoted } from './filter-error.ts'
import type { Comparison, Predicate } from './tree.ts'

/** A value in the text of the client. Quoted text is never a number or a boolean. */
export type WrittenValue = { readonly text: string; readonly quoted: boolean; readonly position: number }

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** More characters than any number needs. */
const NUMBER_LENGTH_MAX = 32

/** @throws ApiError `invalid_input` if no field has this name. */
export function resolveField(written: string, position: number, source: FilterSource): Field {
  const field = findField(written, { legacy: source.legacy })
  if (field === undefined) throw filterError(source, position, `Unknown field ${quoted(written)}`, 'a filterable field')
  return field
}

/** `operator` is one of `= != < <= > >=`. Only `=` and `!=` accept more than one value. */
export function createPredicate(
  field: Field,
  operator: { readonly text: string; readonly position: number },
  values: readonly WrittenValue[],
  source: FilterSource,
): Predicate {
  const typed = values.map((value) => typedValue(field, value, source))
  if (operator.text === '=' || operator.text === '!=')
    return { kind: 'equals', field, values: typed, negated: operator.text === '!=' }
  const value = typed[0]
  if (field.type !== 'number' || typeof value !== 'number' || typed.length !== 1) {
    const reason = field.type === 'number' ? 'with a list' : `on the ${field.type} field ${field.name}`
    throw filterError(source, operator.position, `Operator ${operator.text} ${reason}`, '= or !=')
  }
  return { kind: 'compare', field, operator: operator.text as Comparison, value, negated: false }
}

function typedValue(field: Field, value: WrittenValue, source: FilterSource): string | number {
  if (field.type === 'text') return value.text
  const bare = value.quoted ? '' : value.text.toLowerCase()
  if (field.type === 'boolean') {
    if (bare === 'true' || bare === 'false') return bare
    throw filterError(source, value.position, `${quoted(value.text)} for ${field.name}`, 'true or false')
  }
  const number = bare.length <= NUMBER_LENGTH_MAX && NUMBER.test(bare) ? Number(bare) : Number.NaN
  if (Number.isFinite(number)) return number === 0 ? 0 : number
  throw filterError(
    source,
    value.position,
    `${quoted(value.text)} for ${field.name}`,
    `a number of at most ${NUMBER_LENGTH_MAX} characters`,
  )
}
