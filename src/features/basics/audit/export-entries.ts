// The audit log as a stream of text, read in pages, so that any length takes little memory.

import { csvCell } from '#lib/text/csv.ts'
import type { Db } from '#platform/db/db.ts'
import { listEntriesAfter } from './queries.ts'
import type { AuditFilter } from './requests.ts'
import { CSV_COLUMNS, toAuditEntryView, toCsvValues } from './views.ts'

const ROWS_AT_ONCE = 1_000

/** The oldest entry first. Entries made while it runs may be in it. */
export async function* exportEntries(
  db: Db,
  filter: AuditFilter,
  format: 'jsonl' | 'csv',
): AsyncGenerator<string, void, undefined> {
  if (format === 'csv') yield `${CSV_COLUMNS.join(',')}\r\n`
  let after = 0
  while (true) {
    const rows = await listEntriesAfter(db, filter, { after, limit: ROWS_AT_ONCE })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
      .map((row) =>
        format === 'csv'
          ? `${toCsvValues(row).map(csvCell).join(',')}\r\n`
          : `${JSON.stringify(toAuditEntryView(row))}\n`,
      )
      .join('')
    if (rows.length < ROWS_AT_ONCE) return
    after = last.id
  }
}
