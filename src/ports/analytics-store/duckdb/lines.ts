// Parses and stores lines by statements, in a temporary table of the connection.
import { type DuckDBConnection, LIST, listValue, UINTEGER, VARCHAR } from '@duckdb/node-api'
import { columnsOf, type EventKind, TABLES } from '../events.ts'
import { fieldsOf, type LineBatch } from '../lines.ts'
import { COLUMN_TYPES } from './schema.ts'

/** Parses lines into the temporary table `lines`, which replaces that of the previous batch. Terms are texts there. */
export async function parseLines(
  connection: DuckDBConnection,
  kind: EventKind,
  { columns, lines }: LineBatch,
): Promise<void> {
  const fields = fieldsOf(kind, columns)
  const found = fields.filter(({ at }) => at !== -1)
  const paths = found.map(({ at }) => `'$[${at}]'`)
  const values = fields.map((field) => {
    const type = field.type === 'term' ? VARCHAR : COLUMN_TYPES[field.type]
    const value = field.at === -1 ? `'${field.empty}'` : `value[${found.indexOf(field) + 1}]`
    return `${value}::${type} AS ${field.name}`
  })
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE lines AS SELECT ${values.join(', ')} FROM
      (SELECT json_extract_string(line, [${paths.join(', ')}]) AS value FROM (SELECT unnest(string_split($1, chr(10))) AS line))`,
    [lines.join('\n')],
    [VARCHAR],
  )
}

/** Returns the different texts of a column of the parsed lines. */
export async function distinctTexts(connection: DuckDBConnection, column: string): Promise<Set<string>> {
  const result = await connection.run(`SELECT DISTINCT ${column} FROM lines`)
  return new Set((await result.getRows()).map(([text]) => String(text)))
}

type NumberedLines = { kind: EventKind; terms: ReadonlyMap<string, ReadonlyMap<string, number>>; sequence: number }

/** Stores the parsed lines as events. `terms`: keys of the texts, by column. */
export async function insertLines(
  connection: DuckDBConnection,
  { kind, terms, sequence }: NumberedLines,
): Promise<void> {
  const joined = [...terms]
  const columns = columnsOf(kind).map(([name, type]) => (type === 'term' ? `${name}_terms.key` : `lines.${name}`))
  if (kind === 'download') columns.unshift(String(sequence))
  const joins = joined.map(
    ([name], i) =>
      `JOIN (SELECT unnest($${2 * i + 1}) AS text, unnest($${2 * i + 2}) AS key) ${name}_terms ON ${name}_terms.text = lines.${name}`,
  )
  await connection.run(
    `INSERT INTO ${TABLES[kind]} SELECT ${columns.join(', ')} FROM lines ${joins.join(' ')}`,
    joined.flatMap(([, keys]) => [listValue([...keys.keys()]), listValue([...keys.values()])]),
    joined.flatMap(() => [LIST(VARCHAR), LIST(UINTEGER)]),
  )
}
