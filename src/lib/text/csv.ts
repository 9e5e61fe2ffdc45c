// Cells of CSV (RFC 4180).

/** A text that a spreadsheet would take for a formula gets an apostrophe before it: visitors choose some of them. */
export function csvCell(value: string | number | boolean | undefined): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
