// Checks the PostgreSQL server and the schema.
import { sql } from 'kysely'
import { type DoctorDeps, error, type Finding, warning, when } from './finding.ts'

/** Difference between the clocks that signatures and expiry times tolerate. */
const SKEW_MS = 5_000
/** Connections of a server process, of its jobs and of commands. */
const CONNECTIONS_MIN = 40

type Server = {
  now: Date
  fsync: string
  full_page_writes: string
  synchronous_commit: string
  max_connections: number
  read_only: string
  newest: Date | null
}

/** Checks the settings of the server and its clock. */
export async function checkServerSettings({ db, now }: DoctorDeps): Promise<Finding[]> {
  const before = now()
  const { rows } = await sql<Server>`
    select clock_timestamp() as now, current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('max_connections')::int as max_connections,
      current_setting('default_transaction_read_only') as read_only,
      (select max(applied) from schema_migration) as newest`.execute(db)
  const [server] = rows
  if (server === undefined) return []
  const after = now()
  const at = server.now.getTime()
  const skewMs = at < before ? before - at : Math.max(0, at - after)
  return [
    ...when(
      server.fsync === 'off' || server.full_page_writes === 'off',
      error(
        'database_unsafe',
        'PostgreSQL can lose or damage data when the machine stops, because fsync or full_page_writes is off; set both to on.',
      ),
    ),
    ...when(
      server.synchronous_commit === 'off',
      error(
        'database_commits_early',
        'PostgreSQL confirms changes before they are on disk, because synchronous_commit is off; set it to on.',
      ),
    ),
    ...when(
      server.max_connections < CONNECTIONS_MIN,
      warning(
        'database_connections',
        `PostgreSQL accepts ${server.max_connections} connections; set max_connections to ${CONNECTIONS_MIN} or more.`,
      ),
    ),
    ...when(
      server.read_only === 'on',
      error(
        'database_read_only',
        'PostgreSQL rejects changes, because default_transaction_read_only is on; set it to off for this database.',
      ),
    ),
    ...when(
      skewMs > SKEW_MS,
      error(
        'clock_differs',
        `The clock of this machine differs from the clock of the database by ${Math.round(skewMs / 1000)} seconds; synchronize both with NTP.`,
      ),
    ),
    ...when(
      server.newest !== null && server.newest.getTime() > now() + SKEW_MS,
      error(
        'clock_behind',
        'The clock of this machine is behind the time of the last migration; set it, for example with NTP.',
      ),
    ),
  ]
}

/** Checks that indexes, triggers and constraints work. Each of them can be switched off or left unfinished by hand. */
export async function checkSchemaObjects({ db }: DoctorDeps): Promise<Finding[]> {
  const { rows } = await sql<{ kind: 'index' | 'trigger' | 'constraint'; name: string; table: string }>`
    select 'index' as kind, relname as name, indrelid::regclass::text as table
      from pg_index join pg_class on pg_class.oid = indexrelid
      where not indisvalid and relnamespace = 'public'::regnamespace
    union all select 'trigger', tgname, tgrelid::regclass::text from pg_trigger
      join pg_class on pg_class.oid = tgrelid
      where not tgisinternal and tgenabled = 'D' and relnamespace = 'public'::regnamespace
    union all select 'constraint', conname, conrelid::regclass::text from pg_constraint
      where not convalidated and connamespace = 'public'::regnamespace
    order by 1, 2`.execute(db)
  return rows.map(({ kind, name, table }) => {
    const [index, onTable] = [sql.ref(name), sql.ref(table)]
    if (kind === 'index') {
      const message = `The index ${name} is incomplete, so searches in ${table} are slow or wrong; build it again with \`depot doctor --fix\`.`
      return error('index_invalid', message, () => sql`reindex index concurrently ${index}`.execute(db))
    }
    if (kind === 'trigger') {
      const message = `The trigger ${name} of ${table} is off, so counts and caches become wrong; turn it on with \`depot doctor --fix\`.`
      return error('trigger_off', message, () => sql`alter table ${onTable} enable trigger ${index}`.execute(db))
    }
    const message = `The constraint ${name} of ${table} was never checked for old rows; check it with \`depot doctor --fix\`.`
    return warning('constraint_unchecked', message, () =>
      sql`alter table ${onTable} validate constraint ${index}`.execute(db),
    )
  })
}
