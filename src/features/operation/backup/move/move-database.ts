// `depot move database`: copies every row, with the secrets of the instance, into another database, and compares both. Does not
// change the old database.

import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import pgCopy from 'pg-copy-streams'
import { OperatorError } from '#lib/operator-error.ts'
import { withConnection } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { readMigrations } from '#platform/db/migration-files.ts'
import { withoutDatabaseText } from '#platform/db/pg-errors.ts'
import { deferSchema } from '../deferred-schema.ts'
import { LOCK as RESTORE_LOCK, requestFinish } from '../restore-backup.ts'
import {
  addJob,
  type Client,
  columnList,
  findFilledTable,
  isServed,
  listJobs,
  listSequences,
  listTables,
  quote,
  setSequences,
  type Table,
} from '../rows.ts'

export type MoveDatabaseReport = { tables: number; rows: number; jobs: number }

type OnProgress = (step: 'copying' | 'comparing', done: number, total?: number) => void

/** Makes the text of a value independent of the settings of a server. */
const SESSION =
  "set timezone = 'UTC'; set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres'; set bytea_output = 'hex'"

/**
 * Copies the database while no server uses it, in one transaction that commits after the number of rows and the checksum of
 * each table are equal. The first start of a server completes the move, and updates the schema if this release is newer.
 * @throws OperatorError if a server runs, the new database is not empty, or the databases differ.
 */
export async function moveDatabase(
  source: pg.Pool,
  target: pg.Pool,
  { onProgress = () => {} }: { onProgress?: OnProgress } = {},
): Promise<MoveDatabaseReport> {
  if ((await isServed(source)) || (await isServed(target)))
    throw new OperatorError('A server is running. Stop it and run this command again. Nothing was changed.')
  return withConnection(source, 'depot-move', (from) =>
    withConnection(target, 'depot-move', async (to) => {
      const { rows } = await to.query('select pg_try_advisory_lock($1) as is_mine, pg_backend_pid() as pid', [
        RESTORE_LOCK,
      ])
      const [{ is_mine: isMine, pid } = {}] = rows
      if (isMine !== true) throw new OperatorError('Another command fills the new database. Nothing was changed.')
      await prepareSchema(from, target)
      try {
        await from.query(SESSION)
        await from.query('begin isolation level repeatable read read only')
        await to.query(SESSION)
        await to.query('begin')
        const report = await copyAll(from, to, onProgress)
        await requestFinish(to, { is_move: true })
        await to.query('commit')
        return report
      } catch (cause) {
        // A rollback would wait for a COPY that gets no more rows.
        await target.query('select pg_terminate_backend($1, 10000)', [pid]).catch(() => undefined)
        throw withoutDatabaseText(
          cause,
          (reason) =>
            `The move failed, because ${reason}. Nothing was changed. Check both databases, and run the command again.`,
        )
      }
    }),
  )
}

/** Creates the schema of the old database. @throws OperatorError if one of the databases belongs to a newer release. */
async function prepareSchema(from: Client, target: pg.Pool): Promise<void> {
  const { rows: applied } = await from.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration order by name',
  )
  const own = await readMigrations()
  if (applied.some(({ name, checksum }, n) => own[n]?.name !== name || own[n]?.checksum !== checksum)) {
    throw new OperatorError(
      'The old database belongs to a newer release of Depot. Run this command with that release. Nothing was changed.',
    )
  }
  const through = applied.at(-1)?.name
  await migrate(target, { through })
  const { rows } = await target.query<{ name: string }>('select max(name) as name from schema_migration')
  if (rows[0]?.name === through) return
  throw new OperatorError(
    'The new database has the schema of a newer release of Depot. Create an empty database for this move.',
  )
}

async function copyAll(from: Client, to: Client, onProgress: OnProgress): Promise<MoveDatabaseReport> {
  const tables = await listTables(to, { withSecrets: true, isMove: true })
  const filled = await findFilledTable(to, tables)
  if (filled !== undefined) {
    throw new OperatorError(
      `The new database is not empty: its table ${filled} has rows. Create an empty database. Nothing was changed.`,
    )
  }
  for (const { name } of tables) await to.query(`alter table ${quote(name)} disable trigger user`)
  const createSchema = await deferSchema(to, tables)
  for (const { name } of tables.toReversed()) await to.query(`delete from ${quote(name)}`)
  let rows = 0
  for (const table of tables) {
    const copy = to.query(pgCopy.from(`copy ${quote(table.name)} (${columnList(table)}) from stdin`))
    await pipeline(from.query(pgCopy.to(`copy ${quote(table.name)} (${columnList(table)}) to stdout`)), copy)
    rows += copy.rowCount
    onProgress('copying', rows)
  }
  const jobs = await listJobs(from)
  for (const job of jobs) await addJob(to, job)
  await setSequences(to, await listSequences(from))
  await createSchema()
  for (const [n, table] of tables.entries()) {
    const [before, after] = await Promise.all([digestOf(from, table), digestOf(to, table)])
    if (before.count !== after.count || before.sum !== after.sum) {
      throw new OperatorError(
        `The table ${table.name} of the new database differs: ${after.count} rows instead of ${before.count}, or other values. Nothing was changed.`,
      )
    }
    onProgress('comparing', n + 1, tables.length)
  }
  for (const { name } of tables) await to.query(`alter table ${quote(name)} enable trigger user`)
  return { tables: tables.length, rows, jobs: jobs.length }
}

/** Returns the number of rows, and a checksum that does not depend on their order. */
async function digestOf(client: Client, table: Table): Promise<{ count: string; sum: string }> {
  const { rows } = await client.query<{ count: string; sum: string }>(
    `select count(*)::text as count, coalesce(sum(('x' || encode(substr(sha256(convert_to(
        row(${columnList(table)})::text, 'UTF8')), 1, 7), 'hex'))::bit(56)::bigint), 0)::text as sum
      from ${quote(table.name)}`,
  )
  return rows[0] ?? { count: '0', sum: '0' }
}
