// Creates a migrated database for each test file, as a clone of a template. The template is created once per schema.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogEvent } from 'kysely'
import pg from 'pg'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'

const MIGRATIONS = join(import.meta.dirname, '../../../migrations')
const TEMPLATE_LOCK = 7_300_422

export type TestDatabase = { connectionString: string; pool: pg.Pool; db: Db; close(): Promise<void> }

/** The server the tests use: `npm test` starts one and names it in TEST_DATABASE_URL. */
function testServerUrl(): string {
  const url = process.env['TEST_DATABASE_URL']
  if (url === undefined) throw new Error('TEST_DATABASE_URL is not set; run tests with: npm test -- FILES')
  return url
}

/** A fresh clone of the migrated template; `close` drops it. */
export function testDatabase(onQuery?: (event: LogEvent) => void): Promise<TestDatabase> {
  return createDatabase(ensureTemplate, onQuery)
}

/** A database without a schema, for tests of the migrations themselves. */
export function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase(async () => 'template1')
}

async function createDatabase(
  chooseTemplate: (admin: pg.Client) => Promise<string>,
  onQuery?: (event: LogEvent) => void,
): Promise<TestDatabase> {
  const name = `depot_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  await withAdmin(async (admin) => {
    const template = await chooseTemplate(admin)
    // Copying the files takes a tenth of the processor time of the default, which writes every page to the log.
    await admin.query(`create database ${name} template ${template} strategy file_copy`)
  })
  const connectionString = databaseUrl(name)
  const pool = createPool({ connectionString }, { max: 10, applicationName: 'depot-test' })
  return {
    connectionString,
    pool,
    db: createDb(pool, onQuery),
    close: async () => {
      await pool.end()
      await withAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`))
    },
  }
}

/** The test server's URL for another database on it. */
export function databaseUrl(name: string): string {
  const url = new URL(testServerUrl())
  url.pathname = `/${name}`
  return url.href
}

async function withAdmin<T>(act: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: testServerUrl() })
  await admin.connect()
  try {
    return await act(admin)
  } finally {
    await admin.end()
  }
}

/** Creates the template on this server. The runner does so once per schema and keeps the result. */
export async function prepareTemplate(url: string): Promise<void> {
  process.env['TEST_DATABASE_URL'] = url
  await withAdmin(ensureTemplate)
}

let name: string | undefined

/** Returns the name of the template for the current migrations. */
export function templateName(): string {
  if (name !== undefined) return name
  const hash = createHash('sha256')
  for (const file of readdirSync(MIGRATIONS).sort()) hash.update(file).update(readFileSync(join(MIGRATIONS, file)))
  name = `depot_template_${hash.digest('hex').slice(0, 16)}`
  return name
}

/** On a server that the runner did not start, the first process creates the template, and others wait for the lock. */
async function ensureTemplate(admin: pg.Client): Promise<string> {
  const template = templateName()
  const exists = async () => {
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [template])
    return rowCount === 1
  }
  if (await exists()) return template
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
  try {
    if (!(await exists())) await createTemplate(admin, template)
    return template
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  }
}

/** Migrates under another name, so that an interrupted run leaves no incomplete template. */
async function createTemplate(admin: pg.Client, name: string): Promise<void> {
  const unfinished = `${name}_unfinished`
  await admin.query(`drop database if exists ${unfinished} with (force)`)
  await admin.query(`create database ${unfinished}`)
  const pool = createPool({ connectionString: databaseUrl(unfinished) }, { max: 2, applicationName: 'depot-test' })
  await migrate(pool)
  await pool.end()
  await admin.query(`alter database ${unfinished} rename to ${name}`)
}
