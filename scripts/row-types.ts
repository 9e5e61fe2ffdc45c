// The row types of a migrated database (src/db/schema.ts), written by kysely-codegen.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

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

/** Writes the types of the database's tables to `file`. */
export async function writeRowTypes(connectionString: string, file: string): Promise<void> {
  await promisify(execFile)(process.execPath, [CODEGEN, ...OPTIONS, '--url', connectionString, '--out-file', file])
}
