// The table of error words in docs/errors.md, drawn from the one table in the source.

type Errors = Readonly<Record<string, { error: string; status: number }>>

const START = '<!-- errors: made by npm run gen -->'
const END = '<!-- end of errors -->'

/** One row a word: the statuses it comes with. The meaning stands in the sections below, one for each word. */
export function errorTable(errors: Errors): string {
  const statuses = new Map<string, Set<number>>()
  for (const { error, status } of Object.values(errors))
    statuses.set(error, (statuses.get(error) ?? new Set()).add(status))
  const rows = [...statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([error, set]) => `| [\`${error}\`](#${error.toLowerCase()}) | ${[...set].sort((a, b) => a - b).join(', ')} |`)
  return ['| `error` | status |', '|---|---|', ...rows].join('\n')
}

/** The document with its table replaced. */
export function withErrorTable(document: string, table: string): string {
  const [before, rest = ''] = document.split(START)
  const [, after = ''] = rest.split(END)
  return `${before}${START}\n${table}\n${END}${after}`
}
