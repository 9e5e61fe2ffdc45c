// Parts of request and response schemas.
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { ID_PATTERN } from '#lib/ids.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'

// `describedAs` adds keywords to the API description only, for rules that Depot's own code checks with another error code.

/** An ID in a body or a query. The reader checks it. */
export const Id = (description?: string) =>
  Type.String({
    maxLength: 64,
    describedAs: { pattern: ID_PATTERN },
    ...(description === undefined ? {} : { description }),
  })

/** An ID, slug or username in a body. */
export const IdOrName = (description?: string) =>
  Type.String({
    maxLength: 256,
    describedAs: { pattern: NAME_PATTERN },
    ...(description === undefined ? {} : { description }),
  })

/** `describedAs` of a string that contains a JSON array. */
export const JSON_LIST = { pattern: '^\\s*\\[[\\s\\S]*\\]\\s*$' }

/** An RFC 3339 time in a body. The reader checks it. */
export const Time = (description: string) =>
  Type.String({ maxLength: 64, describedAs: { format: 'date-time' }, description })

/** An object with a name in the API description. */
export const NamedObject = <Properties extends TProperties>(title: string, properties: Properties) =>
  Type.Object(properties, { title })

/** The schema or null. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** The schema or null, optional. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema))

/** A sort key, ascending. The range of PostgreSQL's `integer`. */
export const Ordering = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1, description: 'Sort key, ascending' })

/** RFC 3339 in UTC with milliseconds and `Z`. */
export const Timestamp = Type.String({ format: 'date-time' })

/** Number of changes of a resource, in its view. */
export const Revision = (resource: string, addition = '') =>
  Type.Integer({
    minimum: 1,
    description: `Rises with every change of the ${resource}, except counters; the value for \`If-Match\`${addition}`,
  })

/** The fields of a response, in which times can be dates. */
type ViewSource<View> = { readonly [Field in keyof View]: View[Field] | (string extends View[Field] ? Date : never) }

/** Returns the fields of a response from `source`, which can have more fields. Converts dates to `Timestamp`. */
export function toView<Schema extends TObject>(schema: Schema, source: ViewSource<Static<Schema>>): Static<Schema> {
  const fields = Object.keys(schema.properties).map((name) => {
    const value: unknown = source[name as keyof typeof source]
    return [name, value instanceof Date ? value.toISOString() : value]
  })
  return Object.fromEntries(fields)
}
