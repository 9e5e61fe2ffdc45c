// Converts PATCH bodies to columns.
import { Refusals } from './refusals.ts'

/** For each field of a patch, a function that returns the columns it sets. Every field must have an entry. */
export type PatchColumns<Patch, Row> = { [K in keyof Patch]-?: (value: Exclude<Patch[K], undefined>) => Partial<Row> }

/**
 * Returns the columns that a patch sets. An absent field sets no column. Each field defines the meaning of null.
 * @throws ApiError with the errors of all fields, unless `refusals` collects them.
 */
export function toColumns<Patch extends object, Row>(
  patch: Patch,
  columns: PatchColumns<Patch, Row>,
  refusals?: Refusals,
): Partial<Row> {
  const row: Partial<Row> = {}
  const found = refusals ?? new Refusals()
  for (const field of Object.keys(columns) as (keyof Patch)[]) {
    const value = patch[field]
    if (value === undefined) continue
    Object.assign(
      row,
      found.check(() => columns[field](value as Exclude<Patch[keyof Patch], undefined>)),
    )
  }
  if (refusals === undefined) found.throwAny()
  return row
}
