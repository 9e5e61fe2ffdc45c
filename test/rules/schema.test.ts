// The reviewed schema: the migrations create exactly the committed schema, with every version of PostgreSQL.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { createPool } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { assertSameText } from '#test/support/http/compare-text.ts'
import { describeSchema } from '../../scripts/describe-schema.ts'
import { writeRowTypes } from '../../scripts/row-types.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

let database: TestDatabase
let applied: string[]
before(async () => {
  database = await emptyDatabase()
  applied = await migrate(database.pool)
})
after(() => database?.close())

/** A migrated database that a test may spoil. */
async function withDatabase(act: (database: TestDatabase) => Promise<void>): Promise<void> {
  const own = await emptyDatabase()
  try {
    await act(own)
  } finally {
    await own.close()
  }
}

async function names(pool: pg.Pool, query: string): Promise<string[]> {
  return (await pool.query<{ name: string }>(query)).rows.map(({ name }) => name)
}

test('an empty database becomes schema.sql; `npm run gen` makes it again', async () => {
  assert.ok(applied.length > 0)
  assertSameText(await describeSchema(database.pool), read('docs/generated/schema.sql'))
})

test('migrations are numbered from 0001 without gaps, and nothing cites one that is not there', () => {
  const files = readdirSync(join(ROOT, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const numbers = files.map((name) => name.slice(0, 4))
  assert.deepEqual(
    numbers,
    files.map((_, index) => `${index + 1}`.padStart(4, '0')),
  )
  const cited = globSync(['{bench,browser,docs,migrations,scripts,src,test}/**/*.{md,sql,ts,mjs}', '*.md'], {
    cwd: ROOT,
  })
    .filter((path) => path !== 'test/rules/schema.test.ts')
    .flatMap((path) =>
      [...read(path).matchAll(/\bmigrations?[ /]\d{4}(\w*\.sql)?/gi)].map(([citation]) => ({ path, citation })),
    )
  assert.ok(cited.length > 0)
  assert.deepEqual(
    cited.filter(({ citation }) => !files.some((name) => citation === `migrations/${name}`)),
    [],
    'a migration is cited by its path',
  )
})

test('migrating again changes nothing', async () => {
  const before = await describeSchema(database.pool)
  assert.deepEqual(await migrate(database.pool), [])
  assertSameText(await describeSchema(database.pool), before)
})

test('the row types in src/platform/db/schema.ts are those of the migrated database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-schema-'))
  const file = join(folder, 'schema.ts')
  await writeRowTypes(database.connectionString, file)
  const text = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true })
  assertSameText(text, read('src/platform/db/schema.ts'))
})

test('processes that start at the same time all come up, and each migration is applied once', async () => {
  await withDatabase(async ({ connectionString }) => {
    const pools = [1, 2, 3].map(() => createPool({ connectionString }, { max: 4, applicationName: 'depot-test' }))
    const lists = await Promise.all(pools.map((pool) => migrate(pool)))
    assert.deepEqual(lists.flat().sort(), applied)
    await Promise.all(pools.map((pool) => pool.end()))
  })
})

test('an applied migration that was changed, and one that a newer program made, stop the start', async () => {
  await withDatabase(async ({ pool }) => {
    await migrate(pool)
    const [first = ''] = applied
    await pool.query("update schema_migration set checksum = 'another' where name = $1", [first])
    const changed = new RegExp(`Migration ${first} was changed after it was applied\\. Install the release`)
    await assert.rejects(migrate(pool), changed)
    await pool.query("update schema_migration set checksum = 'another', name = '9999_add_future.sql' where name = $1", [
      first,
    ])
    await assert.rejects(
      migrate(pool),
      /contains migration 9999_add_future\.sql, which this version of Depot does not know\. Install the release/,
    )
    const { rows } = await pool.query(
      "select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    )
    assert.deepEqual(rows, [], 'a refused start keeps no lock')
  })
})

test('every foreign key has an index that begins with its columns', async () => {
  const missing = await names(
    database.pool,
    `select format('%s.%s', k.conrelid::regclass, k.conname) as name from pg_constraint k
      join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
      where k.contype = 'f' and n.nspname = 'public' and not exists (
        select 1 from pg_index i where i.indrelid = k.conrelid
          and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
          and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ 'IS NOT NULL'))
      order by 1`,
  )
  assert.deepEqual(missing, [])
})

/** Identifiers that others give, and one column that is only shown. */
const NOT_OUR_IDS = [
  'account.code_host_id text',
  'affiliate_conversion.external_id text',
  'download_ledger.store_id text',
  'payout.external_id text',
  'report.item_id text',
  'report_claim.item_id text',
  'revenue_part.external_id text',
]

test('every table but the log of changes has a primary key, texts are `text`, times have a zone, and identifiers sort by bytes', async () => {
  const noKey = await names(
    database.pool,
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind = 'r' and not exists (
        select 1 from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')`,
  )
  // A log of minutes, in which no row is ever named.
  assert.deepEqual(noKey, ['change_log'])
  const odd = await names(
    database.pool,
    `select format('%s.%s %s', table_name, column_name, data_type) as name from information_schema.columns
      where table_schema = 'public' and (
        data_type in ('character varying', 'character', 'timestamp without time zone', 'json', 'money', 'real')
        or (column_name ~ '(^|_)id$' and data_type = 'text' and collation_name is distinct from 'C'))
      order by 1`,
  )
  assert.deepEqual(
    odd.filter((column) => !NOT_OUR_IDS.includes(column)),
    [],
  )
})
