// Cells of CSV (RFC 4180).

/** Formats a cell. An apostrophe before a formula keeps spreadsheets from running it, because visitors choose some values. */
export function csvCell(value: string | number | boolean | undefined): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
