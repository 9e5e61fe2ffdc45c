// Schemas and parsers of path and query values: IDs, lists of IDs and JSON.
import Type, { type Static } from 'typebox'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { ID_PATTERN, isIdForm, parseId } from '#lib/ids.ts'
import { JSON_LIST } from '#lib/schema/schema-parts.ts'
import { checkStorable, REVISION_PATTERN } from '#lib/text/text-rules.ts'
import { CURSOR_PATTERN } from '#platform/db/list-position.ts'

/** Maximum number of IDs in a request. */
export const IDS_MAX = 1000

export const IdsQuery = Type.Object({
  ids: Type.String({
    maxLength: 65_536,
    describedAs: JSON_LIST,
    description: `JSON array of up to ${IDS_MAX} identifiers`,
    examples: ['["AABBCCDD","EEFFGGHH"]'],
  }),
})

/** Returns the schema of a path with an ID or a name. */
export const pathId = (description: string, pattern: string, examples: string[]) =>
  Type.Object({ id: Type.String({ maxLength: 256, description, examples, describedAs: { pattern } }) })

export const IdParams = pathId('ID', ID_PATTERN, ['AABBCCDD'])

/** Headers of an edit that can depend on the revision of its resource. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      pattern: REVISION_PATTERN,
      maxLength: 17,
      description:
        'Revision in double quotes. If it is not the current `revision`, nothing is changed: 409 `conflict` with the ' +
        'current state in `details.current`. Default: the edit does not depend on the revision.',
      examples: ['"7"'],
    }),
  ),
})

/** Returns the revision in `If-Match`, if any. */
export function expectedRevision({ headers }: { headers: Static<typeof IfMatch> }): number | undefined {
  const value = headers['if-match']
  return value === undefined ? undefined : Number(value.slice(1, -1))
}

/** Offset of a list. */
export const Offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'Number of items to skip' }),
)

/** Cursor of a list. */
export const CursorQuery = Type.Optional(
  Type.String({
    maxLength: 30,
    describedAs: { pattern: CURSOR_PATTERN },
    description: 'Cursor of the page before: the list continues after it. Default: the start of the list',
    examples: ['1790000000000000-AABBCCDD'],
  }),
)

/** Pagination of lists for operators. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Maximum number of items' }),
  ),
  offset: Offset,
})

/**
 * Parses `ids`: a JSON array of at most 1,000 strings. Removes duplicates.
 * @throws ApiError `invalid_input` with the field.
 */
export function parseIds(text: string, field = 'ids'): string[] {
  const value = parseJsonValue(text, field)
  if (!Array.isArray(value)) throw invalidInput(`${field} must be a JSON array of strings`, field)
  if (value.length > IDS_MAX) throw invalidInput(`${field} can contain at most ${IDS_MAX} items`, field)
  const items = new Set<string>()
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') throw invalidInput(`${field}.${index} must be a string`, `${field}.${index}`)
    items.add(item)
  }
  return [...items]
}

/**
 * Parses `ids` like `parseIds`, for resources without a name.
 * @throws ApiError `invalid_input` with the field, and errors of `parseId` with the index of the ID.
 */
export function parseIdList(text: string): string[] {
  const ids = parseIds(text)
  if (ids.every(isIdForm)) return ids
  // `parseIds` has removed duplicates.
  const sent = JSON.parse(text) as string[]
  return sent.map((id, index) => parseId(id, `ids.${index}`))
}

/**
 * Parses a JSON query value.
 * @throws ApiError `invalid_input` if the value is not JSON, or contains text that the database cannot store.
 */
export function parseJsonValue(text: string, field: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const error = invalidInput(`${field} is not valid JSON`, field)
    error.cause = cause
    throw error
  }
  // Only JSON escapes can contain such characters.
  if (text.includes('\\u')) checkStorableValue(value, field)
  return value
}

function checkStorableValue(value: unknown, field: string): void {
  try {
    checkStorable(value, field)
  } catch (error) {
    throw error instanceof ApiError ? invalidInput(error.message, field) : error
  }
}
