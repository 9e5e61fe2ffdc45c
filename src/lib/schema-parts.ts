// Pieces that wire shapes are built from.
import Type, { type TSchema } from 'typebox'

/** The schema, or null. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** RFC 3339 in UTC with milliseconds and `Z`. */
export const Timestamp = Type.String({ format: 'date-time' })
