// Reads every table and index, and names those that PostgreSQL cannot read.

import type pg from 'pg'
import { listTables, quote } from '#features/operation/backup/rows.ts'
import { withConnection } from '#platform/db/db.ts'
import { isDamage } from '#platform/db/pg-errors.ts'
import { type DoctorDeps, error, type Finding, warning } from './finding.ts'

const CHAPTER = 'docs/operators/operating.md#a-page-of-the-database-is-damaged'

/**
 * Reads everything if `isFull`, otherwise only if PostgreSQL has reported damage, because reading takes as long as a backup.
 * Records what it finds, so that /ready reports it.
 */
export async function checkDamage(deps: DoctorDeps, isFull: boolean): Promise<Finding[]> {
  const { db, pool } = deps
  const reported = (await db.selectFrom('instance_copy').select('damaged_at').executeTakeFirst())?.damaged_at ?? null
  if (reported === null && !isFull) return []
  const findings = await withConnection(pool, 'depot-doctor', async (client) => {
    const tables = await damagedTables(client, deps)
    return [...tables, ...(tables.length > 0 ? [] : await damagedIndexes(client, deps))]
  })
  if (findings.length > 0 && reported === null)
    await db.updateTable('instance_copy').set({ damaged_at: new Date() }).execute()
  if (findings.length > 0 || reported === null) return findings
  const message = `PostgreSQL reported a damaged page on ${reported.toISOString()}, and every table can be read now; remove the report with \`depot doctor --fix\`.`
  return [
    warning('damage_reported', message, () => db.updateTable('instance_copy').set({ damaged_at: null }).execute()),
  ]
}

async function damagedTables(client: pg.Client, deps: Pick<DoctorDeps, 'pool'>): Promise<Finding[]> {
  const findings: Finding[] = []
  await client.query('set enable_indexscan = off; set enable_indexonlyscan = off')
  for (const { name } of await listTables(client, { withSecrets: true, isMove: true })) {
    // The text of a row includes the values that PostgreSQL stores outside of its page.
    const damage = await damageOf(client, `select sum(length(stored::text)) from ${quote(name)} stored`)
    if (damage === undefined) continue
    const index = await findIndex(client, damage)
    findings.push(index === undefined ? damagedTable(name) : damagedIndex(index, name, deps))
  }
  await client.query('reset enable_indexscan; reset enable_indexonlyscan')
  return findings
}

/** Returns the index whose file an error names: PostgreSQL reads the first page of each index of a table before the table. */
async function findIndex(client: pg.Client, { message }: Error): Promise<string | undefined> {
  const path = /relation "?(base\/\d+\/\d+)/.exec(message)?.[1]
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'i' and pg_relation_filepath(oid) = $1`,
    [path],
  )
  return rows[0]?.name
}

function damagedTable(name: string): Finding {
  return error(
    'table_damaged',
    `A page of the table ${name} is damaged, so requests that read it fail; restore the last backup, or save what can be read as ${CHAPTER} describes.`,
  )
}

function damagedIndex(index: string, table: string, { pool }: Pick<DoctorDeps, 'pool'>): Finding {
  return error(
    'index_damaged',
    `The index ${index} of ${table} is damaged, so requests that read it fail or miss rows; build it again with \`depot doctor --fix\`.`,
    () => withConnection(pool, 'depot-doctor', (client) => client.query(`reindex index ${quote(index)}`)),
  )
}

/** Uses the extension amcheck of PostgreSQL, if this role may create it, and removes it again. */
async function damagedIndexes(client: pg.Client, deps: Pick<DoctorDeps, 'pool'>): Promise<Finding[]> {
  await client.query('begin')
  try {
    const isThere = await client.query('create extension if not exists amcheck').then(
      () => true,
      () => false,
    )
    if (!isThere) return []
    const { rows } = await client.query<{ index: string; table: string }>(
      `select own.relname as index, parent.relname as table from pg_index
        join pg_class own on own.oid = indexrelid join pg_class parent on parent.oid = indrelid join pg_am on pg_am.oid = own.relam
        where own.relnamespace = 'public'::regnamespace and amname = 'btree' and own.relpersistence = 'p' and indisvalid
        order by 2, 1`,
    )
    const findings: Finding[] = []
    for (const { index, table } of rows) {
      await client.query('savepoint checked')
      const damage = await damageOf(client, `select bt_index_check(${literal(index)}::regclass)`)
      await client.query('rollback to checked')
      if (damage !== undefined) findings.push(damagedIndex(index, table, deps))
    }
    return findings
  } finally {
    await client.query('rollback')
  }
}

const literal = (name: string): string => `'${quote(name).replaceAll("'", "''")}'`

/** Runs a statement. Returns the error if PostgreSQL reports damage. */
async function damageOf(client: pg.Client, statement: string): Promise<Error | undefined> {
  try {
    await client.query(statement)
    return undefined
  } catch (cause) {
    if (isDamage(cause)) return cause
    throw cause
  }
}
