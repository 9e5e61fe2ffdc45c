// Opens the DuckDB file and creates its tables. Each kind of event has a table with rows in order of arrival. DuckDB's zone
// maps can therefore skip other months: a query of 30 days reads 30 days.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BIGINT,
  BOOLEAN,
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBType,
  UINTEGER,
  VARCHAR,
} from '@duckdb/node-api'
import { requireKnownFormat } from '#lib/format-version.ts'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { StoreInUseError } from '../analytics-store.ts'
import { type ColumnType, columnsOf, EVENT_KINDS, TABLES } from '../events.ts'
import { TERM_COLUMNS, termTable } from './terms.ts'

/** Larger queries use temporary files in the folder. */
const MEMORY_LIMIT = '512MB'
const THREADS = '2'
const FILE_NAME = 'events.duckdb'
/** Increase it with every change that an older release cannot read. Files without a format have format 1. */
export const FORMAT = 1
const SPILL_NAME = 'spill'
/** Reasons of the operating system. An empty file would not help. */
const NOT_DAMAGED = /No space left on device|Disk quota exceeded|Read-only file system|Permission denied/

export const COLUMN_TYPES = {
  time: BIGINT,
  term: UINTEGER,
  text: VARCHAR,
  flag: BOOLEAN,
  number: UINTEGER,
} as const satisfies Record<ColumnType, DuckDBType>

/**
 * Opens the file and creates missing tables, which converts a file of an older release. DuckDB replays its log
 * automatically after a crash.
 * @throws OperatorError if a newer version of Depot wrote the file
 * @throws StoreInUseError if another process has opened the file
 */
export async function openDatabase(dir: string): Promise<DuckDBInstance> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, FILE_NAME)
  const instance = await openFile(path, {
    threads: THREADS,
    memory_limit: MEMORY_LIMIT,
    temp_directory: join(dir, SPILL_NAME),
    max_temp_directory_size: '8GB',
    // Prevents DuckDB from downloading extensions.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  // Temporary files of a killed process. The lock of the file ensures that no other process uses them.
  await rm(join(dir, SPILL_NAME), { recursive: true, force: true })
  const connection = await instance.connect()
  try {
    await checkFormat(connection, path)
    for (const statement of createStatements()) await connection.run(statement)
  } catch (error) {
    instance.closeSync()
    throw error
  } finally {
    connection.closeSync()
  }
  return instance
}

/** @throws OperatorError */
async function checkFormat(connection: DuckDBConnection, path: string): Promise<void> {
  await connection.run('CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL)')
  await connection.run(`INSERT INTO format SELECT ${FORMAT} WHERE NOT EXISTS (FROM format)`)
  const result = await connection.run('SELECT version FROM format')
  requireKnownFormat(`The analytics database ${path}`, Number((await result.getRows())[0]?.[0]), FORMAT)
}

async function openFile(path: string, settings: Record<string, string>): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, settings)
  } catch (cause) {
    if (cause instanceof Error && /\block\b/.test(cause.message))
      throw new StoreInUseError(`The analytics database ${path} is in use by another process`, { cause })
    const reason = cause instanceof Error ? cause.message : String(cause)
    if (NOT_DAMAGED.test(reason))
      throw new OperatorError(`Could not open the analytics database ${path}: ${reason}`, { cause })
    throw new OperatorError(
      `Could not open the analytics database ${path}: ${reason} Stop Depot and run \`depot restore latest --only events\`. ` +
        'To start with an empty one instead, run `depot analytics set-aside`.',
      { cause },
    )
  }
}

/** Returns the unique ID of this file, which copies of the file share. */
export async function findIdentity(connection: DuckDBConnection): Promise<string> {
  const result = await connection.run('SELECT id FROM identity')
  return String((await result.getRows())[0]?.[0])
}

function createStatements(): string[] {
  const tables = EVENT_KINDS.map((kind) => {
    const columns = columnsOf(kind).map(([name, type]) => `${name} ${COLUMN_TYPES[type]} NOT NULL`)
    if (kind === 'download') columns.unshift('sequence BIGINT NOT NULL')
    return `CREATE TABLE IF NOT EXISTS ${TABLES[kind]} (${columns.join(', ')})`
  })
  // `sequence` numbers the batches of downloads from 1; it is 0 for other kinds.
  const batches = `CREATE TABLE IF NOT EXISTS batches
    (id VARCHAR NOT NULL, kind VARCHAR NOT NULL, sequence BIGINT NOT NULL, stored_at BIGINT NOT NULL)`
  // The only writer ensures that terms are unique, because an index on the text would have to fit in memory.
  const terms = TERM_COLUMNS.map(
    (column) => `CREATE TABLE IF NOT EXISTS ${termTable(column)} (key UINTEGER NOT NULL, text VARCHAR NOT NULL)`,
  )
  const identity = [
    'CREATE TABLE IF NOT EXISTS identity (id VARCHAR NOT NULL)',
    `INSERT INTO identity SELECT '${newId()}' WHERE NOT EXISTS (FROM identity)`,
  ]
  return [...terms, ...tables, batches, ...identity]
}
