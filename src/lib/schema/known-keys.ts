// Removes undeclared keys before a handler receives the value, so that a handler that copies a body into a row never
// writes an undeclared key.
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** The subset of JSON Schema that request schemas use. */
type Schema = {
  type?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
}

/**
 * Removes undeclared keys, at any depth, from a value that `schema` accepts. Keeps the keys of objects that allow
 * additional properties. Changes and returns the value.
 */
export function keepKnownKeys<T>(schema: TSchema, value: T): T {
  clean(schema as Schema, value)
  return value
}

function clean(schema: Schema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (schema.anyOf !== undefined) {
    const kind = Array.isArray(value) ? 'array' : 'object'
    const [first, ...others] = schema.anyOf.filter(({ type }) => type === undefined || type === kind)
    // The schema has accepted the value, so a nullable schema needs no second check, which would be slow for long lists.
    const isClear = others.length === 0 && first !== undefined && holds(first)
    const fitting = isClear ? first : schema.anyOf.find((each) => holds(each) && Value.Check(each as TSchema, value))
    if (fitting !== undefined) clean(fitting, value)
    return
  }
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined && holds(items)) for (const item of value) clean(items, item)
    return
  }
  cleanObject(schema, value as Record<string, unknown>)
}

function cleanObject(schema: Schema, value: Record<string, unknown>): void {
  const { properties, patternProperties, additionalProperties } = schema
  if (properties === undefined) {
    const [inner] = Object.values(patternProperties ?? {})
    if (inner !== undefined && holds(inner)) for (const item of Object.values(value)) clean(inner, item)
    return
  }
  const isOpen = patternProperties !== undefined || (additionalProperties ?? false) !== false
  for (const name of Object.keys(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (inner !== undefined) clean(inner, value[name])
    else if (!isOpen) delete value[name]
  }
}

/** Whether values of this schema can contain other values. */
function holds({ type, anyOf }: Schema): boolean {
  return type === 'object' || type === 'array' || anyOf !== undefined
}
