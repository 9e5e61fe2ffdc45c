// What a PATCH body sets in a row.

/** For each field of a patch, what it sets in the row: a field without an entry does not compile. */
export type PatchColumns<Patch, Row> = { [K in keyof Patch]-?: (value: Exclude<Patch[K], undefined>) => Partial<Row> }

/** The columns that a patch sets. A field that is absent keeps its column; what null means is each field's own matter. */
export function toColumns<Patch extends object, Row>(patch: Patch, columns: PatchColumns<Patch, Row>): Partial<Row> {
  const row: Partial<Row> = {}
  for (const field of Object.keys(columns) as (keyof Patch)[]) {
    const value = patch[field]
    if (value !== undefined) Object.assign(row, columns[field](value as Exclude<Patch[keyof Patch], undefined>))
  }
  return row
}
