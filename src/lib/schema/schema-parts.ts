// Pieces that wire shapes are built from.
import Type, { type TSchema } from 'typebox'
import { ID_PATTERN } from '#lib/ids.ts'
import { NAME_PATTERN } from '#lib/text/text-rules.ts'

// `describedAs` of a schema is for the published description alone: keywords that stand there in addition, for what the
// server checks with its own code because the error differs from that of a schema, or for what another schema reads.

/** An ID in a body or a query, whose reader refuses anything else. */
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

/** `describedAs` of a text that is a JSON array. */
export const JSON_LIST = { pattern: '^\\s*\\[[\\s\\S]*\\]\\s*$' }

/** A moment in a body, whose reader refuses what is no RFC 3339. */
export const Time = (description: string) =>
  Type.String({ maxLength: 64, describedAs: { format: 'date-time' }, description })

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
