// Requests of the change feed.
import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { JSON_LIST } from '#lib/schema/schema-parts.ts'
import { parseIds } from '#platform/http/query-values.ts'
import { CURSOR_PATTERN, type Cursor, parseCursor } from './cursor.ts'

export const CHANGE_KINDS = ['project', 'version', 'user', 'organization', 'collection', 'advisory'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

const CURSOR_LENGTH_MAX = 64
const EXAMPLE = 'k3Fp9QzA-128374'

const Kinds = Type.Optional(
  Type.String({
    maxLength: 1024,
    describedAs: JSON_LIST,
    description: `JSON array of kinds: ${CHANGE_KINDS.join(', ')}. Default, also for an empty array: all kinds`,
    examples: ['["project","version"]'],
  }),
)
const Since = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: CURSOR_LENGTH_MAX,
      describedAs: { pattern: CURSOR_PATTERN },
      description,
      examples: [EXAMPLE],
    }),
  )

export const ChangesQuery = Type.Object({
  since: Since(
    '`next` of the page before, or the `cursor` of a change. Default: the start, which lists the whole public catalogue',
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Maximum number of changes' }),
  ),
  kinds: Kinds,
})

export const ChangeStreamQuery = Type.Object({
  since: Since('Cursor after which the stream starts. Default: it starts with the next change'),
  kinds: Kinds,
})

/** Browsers send this header when they reconnect. */
export const ChangeStreamHeaders = Type.Object({
  'last-event-id': Since('Cursor of the last change that the client received. It takes precedence over `since`'),
})

/** @throws ApiError `invalid_input` for a text that is not a cursor. */
export function readCursor(text: string | undefined, field: string): Cursor | undefined {
  if (text === undefined) return undefined
  const cursor = parseCursor(text)
  if (cursor === undefined) {
    throw invalidInput(
      `${field} is not a cursor. Use \`next\` or the \`cursor\` of a change, such as ${EXAMPLE}`,
      field,
    )
  }
  return cursor
}

/** @throws ApiError `invalid_input` for an unknown kind. */
export function readKinds(text: string | undefined): readonly ChangeKind[] {
  const kinds = text === undefined ? [] : parseIds(text, 'kinds')
  const unknown = kinds.find((kind) => !(CHANGE_KINDS as readonly string[]).includes(kind))
  if (unknown !== undefined) throw invalidInput(`kinds can contain ${CHANGE_KINDS.join(', ')}`, 'kinds')
  return kinds.length === 0 ? CHANGE_KINDS : (kinds as ChangeKind[])
}
