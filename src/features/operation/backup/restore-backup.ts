// `depot restore`: restores a backup into an empty instance, in one transaction that commits after the whole backup is
// verified.

import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { sql } from 'kysely'
import { COMMAND, SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { reconcileDownloads } from '#features/reading/downloads/reconcile-downloads.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { connectAlone } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { type Migration, readMigrations } from '#platform/db/migration-files.ts'
import { withoutDatabaseText } from '#platform/db/pg-errors.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { removeClaimedFiles } from '#ports/files/claims.ts'
import { ArchiveError, damaged, type Head } from './archive/archive-format.ts'
import { type ArchiveReader, openArchive } from './archive/archive-reader.ts'
import { decrypted, type Source } from './archive/encryption.ts'
import type { Member } from './archive/member-reader.ts'
import { readHeadOf } from './archive/open-previous.ts'
import { deferSchema } from './deferred-schema.ts'
import { followStore, openEventStage } from './events/event-stage.ts'
import { createRowLoader } from './load-rows.ts'
import { markLostSecrets } from './lost-secrets.ts'
import { createFileRestorer, restoreEarlier } from './restore-files.ts'
import {
  addJob,
  type Client,
  findFilledTable,
  isServed,
  listTables,
  quote,
  SECRET_TABLES,
  setSequences,
  type Table,
  type WaitingJob,
} from './rows.ts'
import { storedKeysSql } from './stored-keys.ts'

export type RestoreDeps = Pick<Deps, 'pool' | 'db' | 'cache' | 'files' | 'analytics' | 'config' | 'log'>

export type RestoreOptions = {
  source: Readable
  /** The backups on which an incremental backup is based. */
  earlier?: readonly Source[]
  /** Finds a backup that `earlier` does not contain. `name`: of a scheduled backup, whose earlier backups are packs. */
  packs?: { name?: string | undefined; find(id: string): Source | undefined } | undefined
  /** Private keys of age for encrypted backups. */
  identities?: readonly string[]
  /** Whether the copy runs no jobs and sends nothing until `depot resume`. */
  isQuiet?: boolean
  onProgress?: (step: 'rows' | 'files' | 'events', done: number) => void
}

export type RestoreReport = {
  id: string
  created: string
  rows: number
  files: number
  events: number
  /** Number of files that were already missing when the backup was created. */
  missing: number
  /** Sentences about secrets that the backup does not contain; empty if the backup is encrypted. */
  renew: string[]
}

/** Key of the lock that lets only one command fill a database. */
export const LOCK = 7_300_427
/** Key of the job that finishes a restore. */
const FINISH_KEY = 'finish-restore'
const decompress = promisify(gunzip)

/**
 * Restores a backup into an empty instance. After a failure, the instance is still empty and the restore can be repeated.
 * @throws ArchiveError if the backup is damaged, truncated, from a newer version, or based on backups that are not named.
 * @throws OperatorError if the instance is not empty or a server uses it. Also throws the errors of the stores.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<RestoreReport> {
  const { identities = [] } = options
  const reader = await openArchive(await decrypted(options.source, identities))
  const client = await connectAlone(deps.pool, 'depot-restore')
  try {
    const { head } = reader
    const earlier = await requireEarlier(head, options, identities)
    if (await isServed(deps.pool))
      throw new OperatorError('A server uses this instance. Stop it and run this command again. Nothing was changed.')
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_mine, pg_backend_pid() as pid', [LOCK])
    const [{ is_mine: isMine, pid } = {}] = rows
    if (isMine !== true) throw new OperatorError('Another restore into this instance is running. Nothing was changed.')
    await prepareSchema(deps, head)
    const events = await openEventStage(deps, head)
    try {
      await client.query('begin')
      const tables = await listTables(client, { withSecrets: hasSecrets(head) })
      const filled = await findFilledTable(client, tables)
      if (filled !== undefined) {
        throw new OperatorError(
          `This instance is not empty: its table ${filled} has rows. Restore into a new data folder or a new database. Nothing was changed.`,
        )
      }
      const report = await restoreAll(deps, client, { reader, tables, events, earlier, options })
      // If this process is killed after the commit, a server finishes the restore.
      await requestFinish(client, { is_quiet: options.isQuiet === true })
      await client.query('commit')
      await finishPendingRestore(deps)
      return report
    } catch (error) {
      // A rollback would wait for a COPY that gets no more rows.
      await deps.pool.query('select pg_terminate_backend($1, 10000)', [pid])
      // Only this restore has claimed keys: the instance is empty and no server uses it. If the process is killed, the
      // scheduled sweep of a server removes the files.
      await removeClaimedFiles(deps).catch((err) =>
        deps.log.error({ err }, 'Could not delete the files of a failed restore'),
      )
      throw withoutDatabaseText(
        error,
        (reason) =>
          `The restore failed, because ${reason}. Nothing was restored. Check the database, and run the command again.`,
      )
    } finally {
      await events.dispose()
    }
  } finally {
    await client.end().catch(() => undefined)
    await reader.dispose()
  }
}

/** Returns the earlier backups by ID. @throws ArchiveError if the incremental backup requires others. */
export async function requireEarlier(
  head: Head,
  { earlier: named = [], packs }: RestoreOptions,
  identities: readonly string[],
): Promise<Map<string, Source>> {
  const earlier = new Map<string, Source>()
  for (const source of named) earlier.set((await readHeadOf(source, identities)).id, source)
  for (const { id } of head.since) {
    const found = earlier.has(id) ? undefined : packs?.find(id)
    if (found !== undefined) earlier.set(id, found)
  }
  const missing = head.since.filter(({ id }) => !earlier.has(id))
  if (packs?.name !== undefined && missing.length > 0) {
    const names = missing.map(({ id }) => `files-${id}-….tar`).join(', ')
    throw new ArchiveError(
      `The backup ${packs.name} is incomplete, because its packs are missing: ${names}. Nothing was restored. Restore these files, or use another backup.`,
    )
  }
  if (missing.length > 0) {
    const names = missing.map(({ id, created }) => `${id} of ${created}`).join(', ')
    throw new ArchiveError(
      `This backup is incremental. Name the backups that it is based on as well. Missing: ${names}.`,
    )
  }
  return earlier
}

/** Creates the schema of the backup. @throws ArchiveError, OperatorError if the backup or the database is newer. */
async function prepareSchema({ pool }: Pick<Deps, 'pool'>, head: Head): Promise<void> {
  checkMigrations(head, await readMigrations())
  const through = head.migrations.at(-1)?.name
  await migrate(pool, { through })
  const { rows } = await pool.query<{ name: string }>('select max(name) as name from schema_migration')
  if (rows[0]?.name !== through) {
    throw new OperatorError(
      `The backup is from Depot ${head.version}, but this database already has the schema of a newer version. Restore into a database or a data folder that Depot has never used.`,
    )
  }
}

function checkMigrations({ version, migrations }: Head, own: readonly Migration[]): void {
  const unknown = migrations.find(({ name }) => !own.some((migration) => migration.name === name))
  if (unknown !== undefined) {
    throw new ArchiveError(
      `The backup is from Depot ${version}, which is newer than this version: its schema contains ${unknown.name}. Restore it with that version.`,
    )
  }
  const other = migrations.find(({ name, checksum }, i) => own[i]?.name !== name || own[i]?.checksum !== checksum)
  if (other !== undefined) throw new ArchiveError(`The schema of the backup is different: ${other.name} does not match`)
}

type Parts = {
  reader: ArchiveReader
  tables: readonly Table[]
  events: Awaited<ReturnType<typeof openEventStage>>
  earlier: ReadonlyMap<string, Source>
  options: RestoreOptions
}

async function restoreAll(
  deps: RestoreDeps,
  client: Client,
  { reader, tables, events, earlier, options }: Parts,
): Promise<RestoreReport> {
  const { head } = reader
  const { identities = [] } = options
  checkTables(head, tables)
  // The rows already contain the values that triggers would compute.
  for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`)
  const createSchema = await deferSchema(client, tables)
  for (const { name } of tables.toReversed()) await client.query(`delete from ${quote(name)}`)
  const report: RestoreReport = {
    id: head.id,
    created: head.created,
    rows: 0,
    files: 0,
    events: 0,
    missing: 0,
    renew: [],
  }
  let schema: Promise<void> | undefined
  /** Claims the keys before files are stored, so that the sweep deletes the files if this process is killed. */
  const endRows = async (): Promise<void> => {
    report.rows += await rows.end()
    if (schema !== undefined) return
    rows.requireAll()
    await claimKeys(deps, client)
    // The database does this while this process stores the files.
    schema = createSchema()
    schema.catch(() => undefined)
  }
  const rows = createRowLoader(client, head.tables)
  const files = createFileRestorer(deps)
  for await (const member of reader.members()) {
    const [folder, name = ''] = member.name.split('/')
    if (folder === 'rows') {
      report.rows += await rows.load(name, member)
      options.onProgress?.('rows', report.rows)
      continue
    }
    if (folder === 'jobs') {
      report.rows += await rows.end()
      await restoreJobs(client, member)
      continue
    }
    await endRows()
    if (folder === 'files') {
      await files.add(member)
      report.files += 1
      options.onProgress?.('files', report.files)
    }
    if (folder === 'events') await events.add(name, member)
  }
  await endRows()
  await files.end()
  await schema
  for (const [id, source] of earlier) report.files += await restoreEarlier(deps, reader, { id, source, identities })
  for await (const entry of reader.elsewhere()) if ('absent' in entry) report.missing += 1
  if (!hasSecrets(head)) report.renew = await markLostSecrets(client)
  await setSequences(client, head.sequences)
  report.events = await events.store((done) => options.onProgress?.('events', done))
  await followStore(client, events)
  await client.query(
    `delete from upload_claim where storage_key in (select key from (${await storedKeysSql(client)}) stored)`,
  )
  for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`)
  return report
}

const hasSecrets = ({ tables }: Head): boolean => tables.some(({ name }) => SECRET_TABLES.includes(name))

/** @throws ArchiveError if the backup has a table or a column that is not in the schema. */
function checkTables(head: Head, tables: readonly Table[]): void {
  const schema = new Map(tables.map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of head.tables) {
    const missing = columns.find((column) => schema.get(name)?.has(column) !== true)
    if (!schema.has(name) || missing !== undefined) {
      const item = missing === undefined ? `the table ${name}` : `the column ${missing} of ${name}`
      throw new ArchiveError(`The backup contains ${item}, which the schema does not have`)
    }
  }
}

async function restoreJobs(client: Client, member: Member): Promise<void> {
  const text = (
    await decompress(await member.bytes()).catch((cause) => Promise.reject(damaged('its jobs cannot be read', cause)))
  ).toString('utf8')
  for (const line of text.split('\n')) if (line !== '') await addJob(client, JSON.parse(line) as WaitingJob)
}

const CLAIMS_PER_STATEMENT = 5_000

/** Claims all file keys on another connection, so that the claims are committed immediately. */
async function claimKeys({ pool }: Pick<Deps, 'pool'>, client: Client): Promise<void> {
  const stored = await storedKeysSql(client)
  for (let after = ''; ; ) {
    const { rows } = await client.query<{ key: string }>(
      `select key from (${stored}) stored where key > $1 collate "C" order by key collate "C" limit ${CLAIMS_PER_STATEMENT}`,
      [after],
    )
    if (rows.length === 0) return
    after = rows.at(-1)?.key ?? after
    await pool.query(
      `insert into upload_claim (storage_key) select unnest($1::text[])
      on conflict (storage_key) do update set created = now()`,
      [rows.map(({ key }) => key)],
    )
  }
}

/** Makes the next start of a server finish a restore or a move, unless this process does it before. */
export async function requestFinish(client: Client, payload: Jobs['backups.finish-restore']): Promise<void> {
  await client.query(`select graphile_worker.add_job('backups.finish-restore', payload => $2::json, job_key => $1)`, [
    FINISH_KEY,
    JSON.stringify(payload),
  ])
}

type FinishDeps = Pick<RestoreDeps, 'pool' | 'db' | 'cache' | 'analytics' | 'log'>

/** Finishes a restore that is committed. A server does this before its first job if the restore was killed. */
export async function finishPendingRestore(deps: FinishDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ payload: Jobs['backups.finish-restore'] }>(
    'select payload from graphile_worker._private_jobs where key = $1',
    [FINISH_KEY],
  )
  const [pending] = rows
  if (pending === undefined) return
  await finishRestore(deps, pending.payload)
  await deps.pool.query('select graphile_worker.remove_job($1)', [FINISH_KEY])
}

/**
 * Migrates to the newest schema, makes a restored copy a new writer of backups, reconciles the download counters, and requests a
 * new search index. Can be repeated.
 */
export async function finishRestore(
  deps: FinishDeps,
  { is_quiet: isQuiet = false, is_move: isMove = false }: Jobs['backups.finish-restore'],
): Promise<void> {
  await migrate(deps.pool)
  if (isMove) await recordAudit(deps.db, { action: 'database.moved', actor: COMMAND })
  else {
    const values = { restored: true, quiet_since: isQuiet ? sql<Date>`now()` : null }
    await deps.db.updateTable('instance_copy').set(values).execute()
  }
  // In a new epoch, so that programs that followed the former instance start again.
  await sql`select rebuild_public_changes()`.execute(deps.db)
  await reconcileDownloads({ ...deps, store: deps.analytics })
  await requestRebuild(deps, SYSTEM)
}
