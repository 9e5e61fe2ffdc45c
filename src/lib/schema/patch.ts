// Converts PATCH bodies to columns.

/** For each field of a patch, a function that returns the columns it sets. Every field must have an entry. */
export type PatchColumns<Patch, Row> = { [K in keyof Patch]-?: (value: Exclude<Patch[K], undefined>) => Partial<Row> }

/** Returns the columns that a patch sets. An absent field sets no column. Each field defines the meaning of null. */
export function toColumns<Patch extends object, Row>(patch: Patch, columns: PatchColumns<Patch, Row>): Partial<Row> {
  const row: Partial<Row> = {}
  for (const field of Object.keys(columns) as (keyof Patch)[]) {
    const value = patch[field]
    if (value !== undefined) Object.assign(row, columns[field](value as Exclude<Patch[keyof Patch], undefined>))
  }
  return row
}
