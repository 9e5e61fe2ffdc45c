// Cursors of lists: the sort value and the ID of the last item that a reader has. The next page begins after this position even
// if the item was deleted.
import { type RawBuilder, sql } from 'kysely'
import { invalidInput } from '#lib/errors.ts'

export const CURSOR_PATTERN = '^(-?\\d{1,16})-([0-9A-Za-z]{1,11})$'
const CURSOR = new RegExp(CURSOR_PATTERN)

export type Position = { value: string; id: string }

/** @throws ApiError `invalid_input` for a text that is not a cursor. */
export function readPosition(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const [, value, id] = CURSOR.exec(cursor) ?? []
  if (value === undefined || id === undefined)
    throw invalidInput('cursor must be the cursor of the page before, such as 1790000000000000-AABBCCDD', 'cursor')
  return { value, id }
}

/** Returns the position of a time as SQL. Its microseconds matter, which a `Date` does not have. */
export function positionOfTime(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(extract(epoch from ${time}) * 1000000)::bigint`
}

/** Returns the condition that a row follows a position in a list by a time or number, the highest first, and then by ID. */
export function follows(
  kind: 'time' | 'number',
  column: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
  after: Position,
) {
  const number = sql`${after.value}::bigint`
  const value = kind === 'number' ? number : sql`timestamptz 'epoch' + ${number} * interval '1 microsecond'`
  return sql<boolean>`(${column} <= ${value} and (${column} < ${value} or ${id} > ${after.id}))`
}

/** Splits rows of which one more than the limit was read. Returns the page and the cursor of the next one. */
export function cutPage<Row extends { id: string; position: number }>(
  rows: readonly Row[],
  limit: number,
): { page: readonly Row[]; next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last !== undefined ? `${last.position}-${last.id}` : null }
}
