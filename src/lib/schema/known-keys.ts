// Keys that a schema does not name are ignored: they are taken out before a handler sees the value, so that nothing
// which spreads a body, or writes it into a row, can be handed more than was declared.
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** As much of JSON Schema as the schemas of requests use. */
type Schema = {
  type?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
}

/**
 * Removes from a value that `schema` accepts the keys which it does not name, at any depth; where a schema is open to
 * further keys they stay. The value is changed and returned.
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
    // The whole schema has accepted the value: what is only "this or null" is not checked once more, which takes long.
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

/** Whether values of this schema can have parts. */
function holds({ type, anyOf }: Schema): boolean {
  return type === 'object' || type === 'array' || anyOf !== undefined
}
