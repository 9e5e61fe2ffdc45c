// `depot restore`: fills an empty instance from an archive, in one transaction; until the archive has shown to be whole,
// nobody sees any of it.

import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import pgCopy from 'pg-copy-streams'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { reconcileDownloads } from '#features/operations/downloads/reconcile-downloads.ts'
import { requestRebuild } from '#features/operations/search/request-rebuild.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { type Migration, migrate, readMigrations } from '#platform/db/migrate.ts'
import type { Deps } from '#ports/deps.ts'
import { removeClaimedFiles } from '#ports/files/claims.ts'
import { ArchiveError, damaged, type Head, unreadable } from './archive/archive-format.ts'
import { type ArchiveReader, openArchive, readHeadOf } from './archive/archive-reader.ts'
import type { Member } from './archive/member-reader.ts'
import { followStore, openEventStage } from './events/event-stage.ts'
import { createFileRestorer, restoreEarlier } from './restore-files.ts'
import {
  addJob,
  type Client,
  columnList,
  connectAlone,
  findFilledTable,
  isServed,
  listTables,
  quote,
  setSequences,
  type Table,
  type WaitingJob,
} from './rows.ts'
import { PICTURE_COLUMNS, pictureBase, storedKeysSql } from './stored-keys.ts'

export type RestoreDeps = Pick<Deps, 'pool' | 'db' | 'cache' | 'files' | 'analytics' | 'config' | 'log'>

export type RestoreOptions = {
  source: Readable
  /** The archives that this one was made since. */
  earlier?: readonly string[]
  onProgress?: (step: 'rows' | 'files' | 'events', done: number) => void
}

export type RestoreReport = {
  id: string
  created: string
  rows: number
  files: number
  events: number
  /** Files that the instance lacked when the archive was made. */
  missing: number
}

const LOCK = 7_300_427
const decompress = promisify(gunzip)

/**
 * Restores into an instance that has nothing yet, of any adapters. After a failure the instance is empty still: run it
 * again.
 * @throws ArchiveError for an archive that is damaged, cut off, newer, or lacks one it was made since; OperatorError for
 * an instance that is not empty or served; what the stores throw when they are full.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<RestoreReport> {
  const reader = await openArchive(options.source)
  const client = await connectAlone(deps.pool, 'depot-restore')
  try {
    const { head } = reader
    const earlier = await requireEarlier(head, options.earlier ?? [])
    if (await isServed(deps.pool)) {
      throw new OperatorError('A server uses this instance; stop it, then restore. Nothing was changed.')
    }
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_mine, pg_backend_pid() as pid', [LOCK])
    const [{ is_mine: isMine, pid } = {}] = rows
    if (isMine !== true) throw new OperatorError('Another restore into this instance is running')
    await prepareSchema(deps, head)
    const events = await openEventStage(deps, head)
    try {
      await client.query('begin')
      const tables = await listTables(client)
      const filled = await findFilledTable(client, tables)
      if (filled !== undefined) {
        throw new OperatorError(
          `This instance is not empty: its table ${filled} has rows. Restore into a new data folder or a new database; nothing was changed.`,
        )
      }
      const report = await restoreAll(deps, client, { reader, tables, events, earlier, options })
      await client.query('commit')
      await afterwards(deps)
      return report
    } catch (error) {
      // Not a rollback: that would wait for a COPY that gets no more rows.
      await deps.pool.query('select pg_terminate_backend($1, 10000)', [pid])
      // Nothing else claims keys of an instance that is empty and not served. A killed restore leaves this to the sweep.
      await removeClaimedFiles(deps).catch((err) =>
        deps.log.error({ err }, 'Files of a failed restore could not be removed'),
      )
      throw error
    } finally {
      await events.dispose()
    }
  } finally {
    await client.end().catch(() => undefined)
    await reader.dispose()
  }
}

/** The paths of earlier archives by their ID. @throws ArchiveError when one is missing, or of another line. */
async function requireEarlier(head: Head, paths: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of paths) found.set((await readHeadOf(path)).id, path)
  const missing = head.since.filter(({ id }) => !found.has(id))
  if (missing.length > 0) {
    const names = missing.map(({ id, created }) => `${id} of ${created}`).join(', ')
    throw new ArchiveError(`The archive was made since others, which must be named after it: ${names} is missing`)
  }
  return found
}

/** The schema that the rows have. @throws ArchiveError when it is a newer one; OperatorError. */
async function prepareSchema({ pool }: Pick<Deps, 'pool'>, head: Head): Promise<void> {
  const known = await readMigrations()
  checkFingerprint(head, known)
  const through = head.migrations.at(-1)?.name
  await migrate(pool, { through })
  const { rows } = await pool.query<{ name: string }>('select max(name) as name from schema_migration')
  if (rows[0]?.name !== through) {
    throw new OperatorError(
      `The archive was made by Depot ${head.version}, and this database has been set up for a newer version already; restore into a database, or a data folder, in which Depot was never started`,
    )
  }
}

function checkFingerprint({ version, migrations }: Head, known: readonly Migration[]): void {
  const unknown = migrations.find(({ name }) => !known.some((migration) => migration.name === name))
  if (unknown !== undefined) {
    throw new ArchiveError(
      `The archive was made by Depot ${version}, which is newer than this one: its schema has ${unknown.name}. Restore it by that version.`,
    )
  }
  const other = migrations.find(({ name, checksum }, i) => known[i]?.name !== name || known[i]?.checksum !== checksum)
  if (other !== undefined) throw new ArchiveError(`The schema of the archive is another one: ${other.name} differs`)
}

type Parts = {
  reader: ArchiveReader
  tables: readonly Table[]
  events: Awaited<ReturnType<typeof openEventStage>>
  earlier: ReadonlyMap<string, string>
  options: RestoreOptions
}

async function restoreAll(
  deps: RestoreDeps,
  client: Client,
  { reader, tables, events, earlier, options }: Parts,
): Promise<RestoreReport> {
  const { head } = reader
  checkTables(head, tables)
  // Rows come with what triggers would compute.
  for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`)
  for (const { name } of tables.toReversed()) await client.query(`delete from ${quote(name)}`)
  const report: RestoreReport = { id: head.id, created: head.created, rows: 0, files: 0, events: 0, missing: 0 }
  let claimed = false
  const rows = createRowLoader(client, head.tables)
  const files = createFileRestorer(deps)
  for await (const member of reader.members()) {
    const [folder, name = ''] = member.name.split('/')
    if (folder === 'rows') {
      report.rows += await rows.load(name, member)
      options.onProgress?.('rows', report.rows)
      continue
    }
    report.rows += await rows.end()
    if (folder === 'jobs') await restoreJobs(client, member)
    if (folder === 'files') {
      // Before their bytes: what a killed restore leaves is removed some hours later.
      if (!claimed) await claimKeys(deps, client, head)
      claimed = true
      await files.add(member)
      report.files += 1
      options.onProgress?.('files', report.files)
    }
    if (folder === 'events') await events.keep(name, member)
  }
  report.rows += await rows.end()
  await files.end()
  if (!claimed) await claimKeys(deps, client, head)
  for (const [id, path] of earlier) report.files += await restoreEarlier(deps, reader, { id, path })
  for await (const entry of reader.elsewhere()) if ('absent' in entry) report.missing += 1
  await setSequences(client, head.sequences)
  report.events = await events.store((done) => options.onProgress?.('events', done))
  await followStore(client, events)
  await client.query(`delete from upload_claim where storage_key in (select key from (${storedKeysSql()}) stored)`, [
    pictureBase(head.filesBaseUrl),
  ])
  await moveAddresses(client, head.filesBaseUrl, deps.config.files.baseUrl)
  for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`)
  return report
}

/** @throws ArchiveError when the archive has a table or a column that this schema has not. */
function checkTables(head: Head, tables: readonly Table[]): void {
  const known = new Map(tables.map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of head.tables) {
    const missing = columns.find((column) => known.get(name)?.has(column) !== true)
    if (!known.has(name) || missing !== undefined) {
      throw new ArchiveError(`The archive has ${missing ?? 'rows'} of ${name}, which this schema does not have`)
    }
  }
}

/** Joins the parts of each table into one COPY. */
function createRowLoader(client: Client, tables: readonly Table[]) {
  let current: { name: string; copy: pgCopy.CopyStreamQuery } | undefined

  async function end(): Promise<number> {
    if (current === undefined) return 0
    const { copy, name } = current
    current = undefined
    await new Promise<void>((resolve, reject) => {
      copy.once('error', reject)
      copy.once('finish', resolve)
      copy.end()
    }).catch((cause) => {
      throw refusedRows(name, cause)
    })
    return copy.rowCount
  }

  return {
    end,
    /** Returns how many rows were loaded by what it ended. */
    async load(name: string, member: Member): Promise<number> {
      const count = current?.name === name ? 0 : await end()
      if (current === undefined) {
        const table = tables.find((known) => known.name === name)
        if (table === undefined) throw damaged(`its head does not name the table ${name}`)
        const copy = client.query(pgCopy.from(`copy ${quote(name)} (${columnList(table)}) from stdin`))
        copy.on('error', () => undefined)
        current = { name, copy }
      }
      await pipeline(member.stream(), createGunzip(), current.copy, { end: false }).catch((cause) => {
        throw refusedRows(name, cause)
      })
      return count
    },
  }
}

/** PostgreSQL's refusal of rows, and errors of their compression. */
function refusedRows(table: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^Z_/.test(code)) return damaged(`rows of ${table} cannot be read`, cause)
  if (/^(22|23)/.test(code)) return damaged(`rows of ${table} are not what Depot writes`, cause)
  if (/^53/.test(code)) return new OperatorError(`The database has no room for the rows of ${table}`, { cause })
  return unreadable(cause)
}

async function restoreJobs(client: Client, member: Member): Promise<void> {
  const text = (
    await decompress(await member.bytes()).catch((cause) => Promise.reject(damaged('its jobs cannot be read', cause)))
  ).toString('utf8')
  for (const line of text.split('\n')) if (line !== '') await addJob(client, JSON.parse(line) as WaitingJob)
}

const CLAIMS_AT_ONCE = 5_000

/** Claims are committed at once, by another connection. */
async function claimKeys({ pool }: Pick<Deps, 'pool'>, client: Client, head: Head): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await client.query<{ key: string }>(
      `select key from (${storedKeysSql()}) stored where key > $2 collate "C" order by key collate "C" limit ${CLAIMS_AT_ONCE}`,
      [pictureBase(head.filesBaseUrl), after],
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

/** Pictures have the address of the instance in front. */
async function moveAddresses(client: Client, from: string, to: string): Promise<void> {
  if (from === to) return
  const [before, after] = [pictureBase(from), pictureBase(to)]
  for (const [table, column] of [...PICTURE_COLUMNS, ['image', 'url'] as const]) {
    await client.query(
      `update ${quote(table)} set ${quote(column)} = $2 || substr(${quote(column)}, length($1) + 1)
      where starts_with(${quote(column)}, $1)`,
      [before, after],
    )
  }
}

/** What the rows do not say: the newest schema, counters that agree with events, a new search index. */
async function afterwards(deps: RestoreDeps): Promise<void> {
  await migrate(deps.pool)
  await reconcileDownloads({ ...deps, store: deps.analytics })
  await requestRebuild(deps, SYSTEM)
}
