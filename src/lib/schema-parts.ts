// Pieces that wire shapes are built from.
import Type, { type TSchema } from 'typebox'

/** The schema, or null. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** The schema, or null, or nothing at all. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema))

/** A place among others of its kind, lowest first: what PostgreSQL's `integer` holds. */
export const Ordering = Type.Integer({
  minimum: -(2 ** 31),
  maximum: 2 ** 31 - 1,
  description: 'Sort key, ascending',
})

/** RFC 3339 in UTC with milliseconds and `Z`. */
export const Timestamp = Type.String({ format: 'date-time' })
