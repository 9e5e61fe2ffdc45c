// Formats tables for users; programs use --json.

/** Aligns the cells of each column. An empty head is omitted. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = head.length === 0 ? rows : [head, ...rows]
  const widths: number[] = []
  for (const line of lines) {
    for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
