// The DuckDB file: its settings and its tables. One table for each kind of event, rows in the order they arrive, so
// that DuckDB's zone maps keep months apart by themselves: a question about 30 days reads 30 days.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { StoreHeldError } from '../analytics-store.ts'
import { type ColumnType, columnsOf, EVENT_KINDS, type EventKind } from '../events.ts'
import { TERM_COLUMNS, termTable } from './terms.ts'

export type DuckDbOptions = {
  /** Folder of the store's own; made when absent. */
  dir: string
  /** Memory that DuckDB may use; larger work spills into the folder. */
  memoryLimitMb: number
  threads: number
}

const FILE_NAME = 'events.duckdb'
const SPILL_NAME = 'spill'

export const TABLES = {
  view: 'views',
  download: 'downloads',
  playtime: 'playtime',
  affiliate_click: 'affiliate_clicks',
} as const satisfies Record<EventKind, string>

const SQL_TYPES = {
  time: 'BIGINT',
  term: 'UINTEGER',
  text: 'VARCHAR',
  flag: 'BOOLEAN',
  number: 'UINTEGER',
} as const satisfies Record<ColumnType, string>

/**
 * Opens the file and makes missing tables. DuckDB replays its log by itself after a crash.
 * @throws StoreHeldError with a plain sentence when another process holds the file.
 */
export async function openDatabase(options: DuckDbOptions): Promise<DuckDBInstance> {
  await mkdir(options.dir, { recursive: true })
  const path = join(options.dir, FILE_NAME)
  const instance = await openFile(path, {
    threads: String(options.threads),
    memory_limit: `${options.memoryLimitMb}MB`,
    temp_directory: join(options.dir, SPILL_NAME),
    max_temp_directory_size: '8GB',
    // The store never reaches for the network.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  // What a killed process spilled; the file's lock says that nobody else is using the folder.
  await rm(join(options.dir, SPILL_NAME), { recursive: true, force: true })
  const connection = await instance.connect()
  for (const statement of createStatements()) await connection.run(statement)
  connection.closeSync()
  return instance
}

async function openFile(path: string, settings: Record<string, string>): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, settings)
  } catch (cause) {
    if (cause instanceof Error && cause.message.includes('lock')) {
      throw new StoreHeldError(`The analytics database ${path} is in use by another process`, { cause })
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(
      `The analytics database ${path} cannot be opened: ${reason} Bring it back from a backup, or begin an empty one ` +
        'beside it: stop Depot and run `depot analytics set-aside`.',
      { cause },
    )
  }
}

/** What tells this file from every other: made with it, and copied with it. */
export async function findIdentity(connection: DuckDBConnection): Promise<string> {
  const found = await connection.run('SELECT id FROM identity')
  return String((await found.getRows())[0]?.[0])
}

function createStatements(): string[] {
  const tables = EVENT_KINDS.map((kind) => {
    const columns = columnsOf(kind).map(([name, type]) => `${name} ${SQL_TYPES[type]} NOT NULL`)
    if (kind === 'download') columns.unshift('sequence BIGINT NOT NULL')
    return `CREATE TABLE IF NOT EXISTS ${TABLES[kind]} (${columns.join(', ')})`
  })
  // `sequence` counts the batches of downloads upwards from 1, as their rows have it; it is 0 for other kinds.
  const batches = `CREATE TABLE IF NOT EXISTS batches
    (id VARCHAR NOT NULL, kind VARCHAR NOT NULL, sequence BIGINT NOT NULL, stored_at BIGINT NOT NULL)`
  // Uniqueness is kept by the one writer: an index on the text would have to live in memory.
  const terms = TERM_COLUMNS.map(
    (column) => `CREATE TABLE IF NOT EXISTS ${termTable(column)} (key UINTEGER NOT NULL, text VARCHAR NOT NULL)`,
  )
  const identity = [
    'CREATE TABLE IF NOT EXISTS identity (id VARCHAR NOT NULL)',
    `INSERT INTO identity SELECT '${newId()}' WHERE NOT EXISTS (FROM identity)`,
  ]
  return [...terms, ...tables, batches, ...identity]
}
