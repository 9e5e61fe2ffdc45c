// The row types of a migrated database (src/platform/db/schema.ts), written by kysely-codegen.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPool } from '#platform/db/db.ts'

const CODEGEN = join(import.meta.dirname, '../node_modules/kysely-codegen/dist/cli/bin.js')

/** int8 as numbers is what `createPool` makes of it; the job queue's own schema is its library's business. */
const OPTIONS = [
  '--dialect',
  'postgres',
  '--type-mapping',
  '{"int8":"number"}',
  '--exclude-pattern',
  'graphile_worker.*',
]

type Row = { table: string; definition: string; nullable: boolean; has_default: boolean }

/**
 * The types of the columns whose check lists their values: `'a' | 'b'` in place of `string`, so that a misspelt status
 * in a statement does not compile.
 */
async function listEnumerations(connectionString: string): Promise<Record<string, string>> {
  const pool = createPool({ connectionString }, { max: 1, applicationName: 'depot-generate' })
  const { rows } = await pool.query<Row>(`
    select c.conrelid::regclass::text as table, pg_get_constraintdef(c.oid) as definition,
      not a.attnotnull as nullable, a.atthasdef as has_default
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'c' and c.connamespace = 'public'::regnamespace and cardinality(c.conkey) = 1`)
  await pool.end()
  return Object.fromEntries(
    rows.flatMap(({ table, definition, nullable, has_default }) => {
      const [, column, list = ''] = /^CHECK \(\((\w+) = ANY \(ARRAY\[(.*)\]\)\)\)$/.exec(definition) ?? []
      if (column === undefined) return []
      const values = [...list.matchAll(/('[^']*')::text/g)].map(([, value]) => value)
      const type = [...values, ...(nullable ? ['null'] : [])].join(' | ')
      return [[`${table}.${column}`, has_default ? `Generated<${type}>` : type]]
    }),
  )
}

/** Writes the types of the database's tables to `file`. */
export async function writeRowTypes(connectionString: string, file: string): Promise<void> {
  const overrides = JSON.stringify({ columns: await listEnumerations(connectionString) })
  const options = [...OPTIONS, '--overrides', overrides, '--url', connectionString, '--out-file', file]
  await promisify(execFile)(process.execPath, [CODEGEN, ...options])
}
