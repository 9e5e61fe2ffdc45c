// Messages and refusals of `migrate`. test/rules/schema.test.ts tests the migrations themselves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { estimateBytes, readMigrations, rewrittenTables } from './migration-files.ts'

let database: TestDatabase
before(async () => {
  database = await emptyDatabase()
})
after(() => database.close())

test('without enough space nothing is changed; the message names what is needed and what is free', async () => {
  await assert.rejects(
    migrate(database.pool, { freeBytes: async () => 1_000_000 }),
    /need about 34 MB on the disk of the database, and 1 MB are free\. Nothing was changed\. Free space/,
  )
  assert.equal((await pendingMigrations(database.pool)).length, (await readMigrations()).length)
})

test('every migration says what it does and how far the work is, and a second process says that it waits', async () => {
  const steps: string[] = []
  const waited: string[] = []
  let second: Promise<string[]> | undefined
  await migrate(database.pool, {
    freeBytes: async () => Number.MAX_SAFE_INTEGER,
    onProgress: (done, total, { name, about }) => {
      steps.push(`${done} of ${total}: ${name}: ${about}`)
      second ??= migrate(database.pool, { onWait: () => waited.push('waits') })
    },
  })
  assert.deepEqual(await second, [])
  const all = await readMigrations()
  assert.deepEqual(
    steps,
    all.map(({ name, about }, i) => `${i} of ${all.length}: ${name}: ${about}`),
  )
  assert.deepEqual(waited, ['waits'])
  assert.equal(all[0]?.about, 'People, what they sign in with, and the tokens that stand for them')
  assert.deepEqual(await pendingMigrations(database.pool), [])
})

test('the estimate counts the tables that statements write again, by their present size', async () => {
  const sql = `-- Changes names. create index x on account (id)
    update project set name = 'x';
    create unique index concurrently if not exists a_key on version (id);
    alter table file alter column size type bigint;
    create function f() returns trigger language plpgsql as $$ begin update team set id = id; end $$;
    create table fresh (id text);`
  assert.deepEqual(rewrittenTables(sql).sort(), ['file', 'project', 'version'])
  const pending = [{ name: '', sql, checksum: '', about: '' }]
  await database.pool.query("insert into team (id) select 'team' || n from generate_series(1, 1000) n")
  const { rows } = await database.pool.query(
    "select sum(pg_total_relation_size(t::regclass)) as bytes from unnest(array['file', 'project', 'version']) t",
  )
  assert.equal(await estimateBytes(database.pool, pending), 32 * 1024 * 1024 + 2 * Number(rows[0].bytes))
  assert.equal(await estimateBytes(database.pool, []), 0)
})
