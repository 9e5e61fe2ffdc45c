// The rows of `npm run bench`: the measured value, the target, and whether the target was reached.

export type Row = {
  what: string
  measured: string
  wanted: string
  reached: boolean | undefined
  /** The measured value and its bound as numbers, for rows that have them. */
  value?: number
  bound?: number
}

/** A row whose measure must be at least, or at most, the wanted number. */
export function row(
  what: string,
  value: number,
  rule: { atLeast: number } | { atMost: number },
  unit = '',
  detail = '',
): Row {
  const atLeast = 'atLeast' in rule
  const bound = atLeast ? rule.atLeast : rule.atMost
  const reached = atLeast ? value >= bound : value <= bound
  const shown = Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(0)
  return {
    what,
    measured: `${shown}${unit}${detail === '' ? '' : ` (${detail})`}`,
    wanted: `${atLeast ? '≥' : '≤'} ${bound}${unit}`,
    reached,
    value,
    bound,
  }
}

/** Returns a row with a value that has no target. */
export function figure(what: string, measured: string): Row {
  return { what, measured, wanted: '', reached: undefined }
}

export function printTable(title: string, rows: readonly Row[]): void {
  console.log(`\n## ${title}\n\n| what | measured | wanted | |\n|---|---|---|---|`)
  for (const { what, measured, wanted, reached } of rows) {
    console.log(
      `| ${what} | ${measured} | ${wanted} | ${reached === undefined ? '' : reached ? 'reached' : 'MISSED'} |`,
    )
  }
}
