// Tables as CSV (RFC 4180).

type Cell = string | number | boolean | undefined

/** Returns the lines of rows. */
export function csvLines(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

/** Formats a cell. An apostrophe before a formula keeps spreadsheets from running it, because visitors choose some values. */
export function csvCell(value: Cell): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
