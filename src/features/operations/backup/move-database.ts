// `depot move database`: copies every row into another database, in one transaction. The old database stays as it is.
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import pgCopy from 'pg-copy-streams'
import { OperatorError } from '#lib/operator-error.ts'
import { migrate } from '#platform/db/migrate.ts'
import type { Deps } from '#ports/deps.ts'
import {
  addJob,
  type Client,
  columnList,
  connectAlone,
  findFilledTable,
  isServed,
  listJobs,
  listSequences,
  listTables,
  OF_THE_DATABASE,
  quote,
  setSequences,
  type Table,
} from './rows.ts'

export type MoveDatabaseReport = {
  tables: number
  rows: number
  /** Background jobs that wait. */
  jobs: number
  /** Versions of PostgreSQL. */
  from: string
  to: string
}

export type MoveStep = 'reading' | 'copying' | 'comparing'

type OnProgress = (step: MoveStep, done: number, total?: number) => void

const LOCK = 7_300_428
/** No server runs, so that whoever else writes is a command, which ends soon. */
const SOURCE_LOCK_SECONDS = 10
/** How values are written as text, on both sides alike. */
const FORMATS = `set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set bytea_output = 'hex';
  set extra_float_digits = 1`

const IS_SERVED =
  'A server uses this database: what it writes meanwhile would be lost. Stop it, then run this again; nothing was changed'

/**
 * Copies tables, sequences and waiting jobs of an instance that is not served into a database that holds nothing yet, and
 * compares the number of rows and their hash for each table before it commits. While it runs, nobody can write into the
 * old database; the new one is as empty as before until the end, so that after a failure it can be run again.
 * @throws OperatorError when a server runs, when the new database is not empty or is the one that is used, when it cannot
 * be reached or lacks room or a right, and when the rows are not the same afterwards.
 */
export async function moveDatabase(
  { pool }: Pick<Deps, 'pool'>,
  target: pg.Pool,
  { onProgress = () => {} }: { onProgress?: OnProgress } = {},
): Promise<MoveDatabaseReport> {
  if (await isServed(pool)) throw new OperatorError(IS_SERVED)
  const source = await connectAlone(pool, 'depot-move')
  try {
    if (!(await lock(source))) throw new OperatorError('Another move of this database is running')
    const sink = await connectAlone(target, 'depot-move').catch((cause: unknown) => {
      throw new OperatorError(`The new database cannot be reached: ${reasonOf(cause)}`, { cause })
    })
    try {
      if (!(await lock(sink))) throw new OperatorError('The settings name the database that is used already')
      await prepareTarget(sink, target)
      return await copy({ pool, source, sink, onProgress })
    } catch (error) {
      await endSession(sink, target)
      throw asOperatorError(error)
    } finally {
      await sink.end().catch(() => undefined)
    }
  } finally {
    await source.end().catch(() => undefined)
  }
}

/** One at a time in a database. */
async function lock(client: Client): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as is_mine', [LOCK])
  return rows[0]?.is_mine === true
}

/** Makes the tables. @throws OperatorError for a database of something else. */
async function prepareTarget(sink: Client, target: pg.Pool): Promise<void> {
  const { rows } = await sink.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
      and to_regclass('public.schema_migration') is null limit 1`,
  )
  const [other] = rows
  if (other !== undefined) {
    throw new OperatorError(
      `The new database is not empty: it has ${other.name}, which is not Depot's. Name an empty one`,
    )
  }
  try {
    await migrate(target)
  } catch (cause) {
    if (!(cause instanceof OperatorError)) throw cause
    throw new OperatorError(`The new database: ${cause.message}`, { cause })
  }
}

type Sides = { pool: pg.Pool; source: Client; sink: Client; onProgress: OnProgress }

async function copy({ pool, source, sink, onProgress }: Sides): Promise<MoveDatabaseReport> {
  for (const client of [source, sink]) await client.query(FORMATS)
  const tables = await listTables(source, OF_THE_DATABASE)
  await source.query('begin isolation level repeatable read')
  await lockTables(source, tables)
  await sink.query('begin')
  const filled = await findFilledTable(sink, tables)
  if (filled !== undefined) {
    throw new OperatorError(
      `The new database is not empty: its table ${filled} has rows. Name a database in which Depot was never started; nothing was changed`,
    )
  }
  const before = await fingerprint(source, tables, (done) => onProgress('reading', done))
  const total = [...before.values()].reduce((sum, { rows }) => sum + rows, 0)
  // Rows come with what triggers would compute.
  for (const { name } of tables) await sink.query(`alter table ${quote(name)} disable trigger user`)
  for (const { name } of tables.toReversed()) await sink.query(`delete from ${quote(name)}`)
  let copied = 0
  for (const table of tables) {
    await copyTable(source, sink, table, (rows) => {
      copied += rows
      onProgress('copying', copied, total)
    })
  }
  await setSequences(sink, await listSequences(source))
  const jobs = await listJobs(source)
  for (const job of jobs) await addJob(sink, job)
  for (const { name } of tables) await sink.query(`alter table ${quote(name)} enable trigger user`)
  const after = await fingerprint(sink, tables, (done) => onProgress('comparing', done, total))
  compare(before, after)
  if ((await listJobs(sink)).length !== jobs.length) throw new OperatorError(differ('the waiting jobs'))
  if (await isServed(pool)) throw new OperatorError(IS_SERVED)
  const [from, to] = [await versionOf(source), await versionOf(sink)]
  await sink.query('commit')
  // Without it the first queries would be planned as if the tables were empty.
  await sink.query('analyze')
  return { tables: tables.length, rows: total, jobs: jobs.length, from, to }
}

async function lockTables(source: Client, tables: readonly Table[]): Promise<void> {
  await source.query(`set local lock_timeout = '${SOURCE_LOCK_SECONDS}s'`)
  await source
    .query(`lock table ${tables.map(({ name }) => quote(name)).join(', ')} in share mode`)
    .catch((cause: unknown) => {
      if (codeOf(cause) !== '55P03') throw cause
      throw new OperatorError('Another program writes into this database; end it, then run this again', { cause })
    })
}

async function copyTable(source: Client, sink: Client, table: Table, onRows: (rows: number) => void): Promise<void> {
  const name = `${quote(table.name)} (${columnList(table)})`
  const rows = source.query(pgCopy.to(`copy ${name} to stdout`))
  const into = sink.query(pgCopy.from(`copy ${name} from stdin`))
  await pipeline(
    rows,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        onRows(countLines(chunk))
        yield chunk
      }
    },
    into,
  )
}

/** Rows of COPY's text form: a line break in a value is written as `\n`. */
function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1
  return count
}

type Fingerprint = ReadonlyMap<string, { rows: number; hash: string }>

/** The number of rows of each table, and the sum of the hashes of their values: in whatever order they are stored. */
async function fingerprint(
  client: Client,
  tables: readonly Table[],
  onRows: (rows: number) => void,
): Promise<Fingerprint> {
  const found = new Map<string, { rows: number; hash: string }>()
  let done = 0
  for (const table of tables) {
    const { rows } = await client.query<{ rows: string; hash: string }>(
      `select count(*)::text as rows, coalesce(sum(('x' || left(hash, 16))::bit(64)::bigint), 0)::text as hash
      from (select encode(sha256(convert_to(row(${columnList(table)})::text, 'UTF8')), 'hex') as hash
        from ${quote(table.name)}) hashed`,
    )
    const [counted = { rows: '0', hash: '0' }] = rows
    found.set(table.name, { rows: Number(counted.rows), hash: counted.hash })
    done += Number(counted.rows)
    onRows(done)
  }
  return found
}

function compare(before: Fingerprint, after: Fingerprint): void {
  for (const [name, { rows, hash }] of before) {
    const now = after.get(name)
    if (now?.rows !== rows || now.hash !== hash) {
      throw new OperatorError(differ(`the rows of ${name} (${rows} before, ${now?.rows ?? 0} after)`))
    }
  }
}

const differ = (what: string): string =>
  `After the copy ${what} are not the same in both databases; the new one is empty again, the old one as it was`

async function versionOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version")
  return rows[0]?.version ?? ''
}

/** Not a rollback: that would wait for a COPY that gets no more rows. When it returns, the new database is as it was. */
async function endSession(sink: Client, target: pg.Pool): Promise<void> {
  const { processID } = sink as Client & { processID?: number }
  await target.query('select pg_terminate_backend($1, 10000)', [processID]).catch(() => undefined)
}

function asOperatorError(error: unknown): unknown {
  const code = codeOf(error)
  const says = (text: string) => new OperatorError(`${text}: ${reasonOf(error)}`, { cause: error })
  if (/^53[12]/.test(code)) return says('The new database has no room for the rows')
  if (code === '42501') return says('The role of the new database lacks a right; make it the owner of the database')
  if (/^(08|57)/.test(code) || /ECONN|EPIPE/.test(code)) return says('The connection to a database was lost')
  return error
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || codeOf(error) || error.name : String(error)
