// Database access for backups: tables with their columns and order, sequences and jobs.
import type pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import { isDamage } from '#platform/db/pg-errors.ts'
import type { Head } from './archive/archive-format.ts'

export type Table = Head['tables'][number]
export type Client = pg.ClientBase

/** Tables that are valid in one database only. A restore and a move create their rows again. */
const STATE_TABLES = [
  'change_log',
  'job_worker',
  'search_change',
  'search_index',
  'search_rebuild',
  'schema_migration',
  'public_change',
  'public_change_head',
  'public_change_note',
]

/**
 * Tables that a backup omits: the state of processes that follow this database and of this copy, migrations, unfinished uploads and their claims,
 * the link for the first admin, cached images of other hosts, figures of the running instance, forms and removed images that are kept for minutes, and data
 * that an instance recreates automatically.
 */
const OMITTED_TABLES = [
  ...STATE_TABLES,
  'external_image',
  'first_admin_link',
  'instance_check',
  'instance_copy',
  'job_schedule',
  'upload',
  'upload_claim',
  'upload_part',
  'instance_error',
  'instance_figure',
  'mail_delivery',
  'storage_measure',
  'stored_form',
  'removed_gallery_item',
]

/** Tables with secrets of the instance, which only encrypted backups contain. */
export const SECRET_TABLES = ['instance_key', 'instance_secret']

/** Tables that have rows in a new database, or after its first start. The rows of a backup replace them. */
const INITIALLY_FILLED_TABLES = [
  ...SECRET_TABLES,
  'event_head',
  'instance',
  'download_ledger',
  'instance_copy',
  'job_schedule',
  'catalogue_change',
  'text_base_url',
]

const DAMAGED =
  'A part of the database is damaged. Run `depot doctor --full`, which names the damaged parts and what to do.'

/** Returns the error for rows that PostgreSQL cannot read, because a page of their table is damaged; other errors unchanged. */
export function unreadableRows(table: string, cause: unknown): unknown {
  if (!isDamage(cause)) return cause
  return new OperatorError(
    `The rows of the table ${table} cannot be read, because a part of the database is damaged. Run \`depot doctor --full\`, which names the damaged parts and what to do.`,
    { cause },
  )
}

/** Returns the tables of a backup or of a move, each after the tables to which it refers. */
export async function listTables(
  client: Client,
  { withSecrets, isMove = false }: { withSecrets: boolean; isMove?: boolean },
): Promise<Table[]> {
  const omitted = isMove ? STATE_TABLES : OMITTED_TABLES
  const { rows } = await client.query<{ name: string; columns: string[]; refers: string[] }>(
    `select class.relname as name,
      array(select attname::text from pg_attribute
        where attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
      array(select referred.relname::text from pg_constraint join pg_class referred on referred.oid = confrelid
        where conrelid = class.oid and contype = 'f' and confrelid <> conrelid) as refers
    from pg_class class join pg_namespace namespace on namespace.oid = class.relnamespace
    where namespace.nspname = 'public' and class.relkind = 'r' and not class.relname = any($1::text[])
    order by class.relname`,
    [withSecrets ? omitted : [...omitted, ...SECRET_TABLES]],
  )
  const ordered: Table[] = []
  const waiting = new Map(rows.map((row) => [row.name, row]))
  while (waiting.size > 0) {
    const ready = [...waiting.values()].find(({ refers }) => !refers.some((name) => waiting.has(name)))
    if (ready === undefined)
      throw new Error(`Tables refer to each other in a circle: ${[...waiting.keys()].join(', ')}`)
    waiting.delete(ready.name)
    ordered.push({ name: ready.name, columns: ready.columns })
  }
  return ordered
}

/**
 * Adds the number of rows to each table. Reads the tables and not their indexes, because a damaged index must not keep rows out
 * of a backup.
 */
export async function withCounts(client: Client, tables: readonly Table[]): Promise<Table[]> {
  const counts = tables.map(({ name }) => `(select count(*)::float8 from ${quote(name)})`)
  await client.query('set local enable_indexscan = off; set local enable_indexonlyscan = off')
  const { rows } = await client
    .query<{ counts: number[] }>(`select array[${counts.join(', ')}] as counts`)
    .catch((cause) => Promise.reject(isDamage(cause) ? new OperatorError(DAMAGED, { cause }) : cause))
  await client.query('set local enable_indexscan = on; set local enable_indexonlyscan = on')
  return tables.map((table, n) => ({ ...table, rows: rows[0]?.counts[n] ?? 0 }))
}

export async function listSequences(client: Client): Promise<Head['sequences']> {
  const { rows } = await client.query<{ name: string; next: string }>(
    `select sequencename as name, coalesce(last_value + increment_by, start_value)::text as next
    from pg_sequences where schemaname = 'public' order by sequencename`,
  )
  return rows
}

export async function setSequences(client: Client, sequences: Head['sequences']): Promise<void> {
  const existing = new Set((await listSequences(client)).map(({ name }) => name))
  for (const { name, next } of sequences) {
    if (existing.has(name)) await client.query('select setval($1::regclass, $2::bigint, false)', [quote(name), next])
  }
}

/** Quotes an SQL identifier. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const columnList = ({ columns }: Table): string => columns.map(quote).join(', ')

/** Pending background job. */
export type WaitingJob = {
  task: string
  payload: unknown
  run_at: string
  max_attempts: number
  job_key: string | null
  priority: number
}

/** Reads the tables of the job library directly, because the library cannot list jobs with their payloads. */
export async function listJobs(client: Client): Promise<WaitingJob[]> {
  const { rows } = await client.query<WaitingJob>(
    `select task.identifier as task, job.payload, to_char(job.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as run_at,
      job.max_attempts, job.key as job_key, job.priority
    from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
    where job.attempts < job.max_attempts order by job.id`,
  )
  return rows
}

export async function addJob(client: Client, job: WaitingJob): Promise<void> {
  await client.query(
    `select graphile_worker.add_job($1, payload => $2::json, run_at => $3::timestamptz, max_attempts => $4::int,
      job_key => $5::text, priority => $6::int)`,
    [job.task, JSON.stringify(job.payload), job.run_at, job.max_attempts, job.job_key, job.priority],
  )
}

/** This copy of the instance, which differs from the copies that were restored from its backups. */
export type Copy = { instance: string; writer: string; restored: boolean }

export async function readCopy(client: Client): Promise<Copy> {
  const { rows } = await client.query<Copy>('select id as instance, writer, restored from instance, instance_copy')
  const [copy] = rows
  if (copy === undefined) throw new Error('The row of instance_copy is missing from the database')
  return copy
}

/** Returns whether a server uses this database: every server listens on a connection with this name. */
export async function isServed(client: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from pg_stat_activity where datname = current_database() and application_name = 'depot-listen' limit 1`,
  )
  return rows.length > 0
}

/** Returns a table that has other rows than in a new database. */
export async function findFilledTable(client: Client, tables: readonly Table[]): Promise<string | undefined> {
  for (const { name } of tables) {
    if (INITIALLY_FILLED_TABLES.includes(name)) continue
    const only = name === 'account' ? " where id <> 'deleted0'" : ''
    const { rows } = await client.query(`select 1 from ${quote(name)}${only} limit 1`)
    if (rows.length > 0) return name
  }
  return undefined
}
