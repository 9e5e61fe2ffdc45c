import { csvCell } from '#lib/text/csv.ts'
import type { Db } from '#platform/db/db.ts'
import { listEntriesAfter } from './queries.ts'
import type { AuditFilter } from './requests.ts'
import { CSV_COLUMNS, toAuditEntryView, toCsvValues } from './views.ts'

const PAGE_ROWS = 1_000

/** Yields the audit log page by page, oldest entry first. It can include entries that are added during the export. */
export async function* exportEntries(
  db: Db,
  filter: AuditFilter,
  format: 'jsonl' | 'csv',
): AsyncGenerator<string, void, undefined> {
  if (format === 'csv') yield `${CSV_COLUMNS.join(',')}\r\n`
  let after = 0
  while (true) {
    const rows = await listEntriesAfter(db, filter, { after, limit: PAGE_ROWS })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
      .map((row) =>
        format === 'csv'
          ? `${toCsvValues(row).map(csvCell).join(',')}\r\n`
          : `${JSON.stringify(toAuditEntryView(row))}\n`,
      )
      .join('')
    if (rows.length < PAGE_ROWS) return
    after = last.id
  }
}
