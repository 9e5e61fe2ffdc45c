// Applies the forward-only SQL files of `migrations/` in order: each file once, in a separate transaction.
import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import { HOUR_MS } from '#lib/time.ts'
import { estimateBytes, type Migration, readMigrations } from './migration-files.ts'

/** Arbitrary key of the advisory lock that lets only one process migrate at a time. */
const LOCK_KEY = 7_300_421
const NEXT_STEPS =
  'Install the release of Depot that last used the database, or a newer one. To use this release, restore a backup of this release into an empty instance.'
const LOCK_TIMEOUT_MS = 4_000
/** Limit for a whole file, which is sent as one message. The statement timeout of the session also applies. */
const FILE_TIMEOUT_MS = HOUR_MS
const OLDEST_SERVER = 15
const INSUFFICIENT_PRIVILEGE = '42501'
/** Codes of `create` for a table, type or function that exists. */
const DUPLICATES = ['42P07', '42710', '42723']

export type MigrateOptions = {
  /** Last migration to apply; used to restore an older backup. Default: the newest */
  through?: string | undefined
  /** Called before each migration with the number of completed migrations and the total. */
  onProgress?: (done: number, total: number, migration: Pick<Migration, 'name' | 'about'>) => void
  /** Called if another process applies migrations, before this one waits for it. */
  onWait?: () => void
  /** Returns the free space on the disk of the database. Default: the space is not checked */
  freeBytes?: (() => Promise<number>) | undefined
}

/**
 * Updates the schema of the job queue, then applies the pending migrations, and returns their names. Several processes
 * can call this function concurrently.
 * @throws OperatorError if the database is unreachable, is too old or does not use UTF8, if the role lacks a permission,
 * if its disk has too little space, if an applied file was changed, or if a newer version of Depot applied a migration that this version does not know.
 */
export async function migrate(pool: pg.Pool, options: MigrateOptions = {}): Promise<string[]> {
  const { through, onProgress, onWait, freeBytes } = options
  const known = await readMigrations()
  const migrations = through === undefined ? known : known.filter(({ name }) => name <= through)
  const client = await connect(pool)
  try {
    await checkServer(client)
    await takeLock(client, onWait)
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) })
    await client.query(`create table if not exists schema_migration (
      name text primary key, checksum text not null, applied timestamptz not null default now())`)
    const applied = await readApplied(client)
    checkHistory(applied, known)
    const pending = migrations.filter((migration) => !applied.has(migration.name))
    if (freeBytes !== undefined) await checkSpace(client, pending, freeBytes)
    for (const [done, migration] of pending.entries()) {
      onProgress?.(done, pending.length, migration)
      await apply(client, migration)
    }
    return pending.map((migration) => migration.name)
  } catch (error) {
    throw explained(error) ?? error
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => {})
    client.release()
  }
}

/** Returns whether the database has the schema of an instance, of any version. @throws OperatorError if it is unreachable */
export async function hasSchema(pool: pg.Pool): Promise<boolean> {
  const client = await connect(pool)
  try {
    const { rows } = await client.query("select to_regclass('schema_migration') is not null as found")
    return rows[0]?.found === true
  } finally {
    client.release()
  }
}

/** Returns the migrations that the next start applies. @throws OperatorError as `migrate` if the schema is unknown. */
export async function pendingMigrations(pool: pg.Pool): Promise<Migration[]> {
  const known = await readMigrations()
  const applied = (await hasSchema(pool)) ? await readApplied(pool) : new Map<string, string>()
  checkHistory(applied, known)
  return known.filter(({ name }) => !applied.has(name))
}

async function takeLock(client: pg.PoolClient, onWait: (() => void) | undefined): Promise<void> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as is_mine', [LOCK_KEY])
  if (rows[0]?.is_mine === true) return
  onWait?.()
  await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
}

/** @throws OperatorError if the disk of the database cannot hold what the migrations write. */
async function checkSpace(
  client: pg.PoolClient,
  pending: readonly Migration[],
  freeBytes: () => Promise<number>,
): Promise<void> {
  const needed = await estimateBytes(client, pending)
  if (needed === 0) return
  const free = await freeBytes()
  if (free >= needed) return
  const [needs, has] = [needed, free].map((bytes) => Math.ceil(bytes / 1_000_000))
  throw new OperatorError(
    `The migrations need about ${needs} MB on the disk of the database, and ${has} MB are free. Nothing was changed. ` +
      'Free space on that disk, and run the command again.',
  )
}

function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message || ('code' in cause ? cause.code : cause.name) : cause
    throw new OperatorError(`The database cannot be reached: ${reason}`, { cause, dependency: 'database' })
  })
}

/** Returns the checksums of the applied migrations by name. */
async function readApplied(client: pg.Pool | pg.PoolClient): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration order by name',
  )
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

/** Returns the error for a database that the operator must change; undefined for other errors. */
function explained(error: unknown): OperatorError | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  if (cause.code === INSUFFICIENT_PRIVILEGE) {
    return new OperatorError(
      `The role of DATABASE_URL lacks a permission (${cause.message}). Make the role the owner of the database, or grant it ` +
        'CREATE on the database and on the schema public.',
      { cause },
    )
  }
  if (!DUPLICATES.includes(String(cause.code))) return undefined
  return new OperatorError(
    `The database contains something that Depot did not create (${cause.message}). Set DATABASE_URL to an empty database.`,
    { cause },
  )
}

async function checkServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    "select current_setting('server_version') as version, current_setting('server_encoding') as encoding",
  )
  const { version = '', encoding } = rows[0] ?? {}
  if (Number.parseInt(version, 10) < OLDEST_SERVER)
    throw new OperatorError(`Depot needs PostgreSQL ${OLDEST_SERVER} or newer; the server has version ${version}`)
  if (encoding !== 'UTF8') throw new OperatorError(`The database must use the encoding UTF8; it uses ${encoding}`)
}

function checkHistory(applied: Map<string, string>, migrations: Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  for (const [name, checksum] of applied) {
    const current = known.get(name)
    if (current === undefined) {
      throw new OperatorError(
        `The database contains migration ${name}, which this version of Depot does not know. ${NEXT_STEPS}`,
      )
    }
    if (current !== checksum)
      throw new OperatorError(`Migration ${name} was changed after it was applied. ${NEXT_STEPS}`)
  }
}

async function apply(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
    const statements = { text: migration.sql, query_timeout: FILE_TIMEOUT_MS }
    await client.query(statements)
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${migration.name} failed`, { cause: error })
  }
}
