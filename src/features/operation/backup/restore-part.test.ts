// Restores the events or single files of a backup into the existing instance, and names the damage.
import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isDamagedStore } from '#ports/analytics-store/analytics-store.ts'
import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import type { Finished } from '#test/support/processes/running-depot.ts'

let folder: string
let database: TestDatabase
let env: Record<string, string>
const at = (name: string): string => join(folder, name)
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depot-part-'))
  database = await testDatabase()
  env = { DATABASE_URL: database.connectionString, DATA_DIR: at('data'), BACKUP_TARGET: at('target') }
  await json(['seed', '--projects', '3'])
  await json(['backup'])
  await json(['backup', at('one.tar')])
})
after(async () => {
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (args: string[]): Promise<Finished> => commandHere(args, env)

async function json(args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await run([...args, '--json'])
  assert.equal(code, 0, stderr + stdout)
  return JSON.parse(stdout)
}

/** Inverts up to 64 bytes of a file. */
async function damage(path: string, where = 0): Promise<void> {
  const file = await open(path, 'r+')
  const bytes = Buffer.alloc(Math.min(64, (await file.stat()).size - where))
  await file.read(bytes, 0, 64, where)
  await file.write(
    bytes.map((byte) => byte ^ 255),
    0,
    64,
    where,
  )
  await file.close()
}

/** The file store keeps each file under its key. */
const pathOf = (key: string): string => at(`data/files/objects/${key}`)

test('files that are missing or have another size return; a changed one returns by the name that doctor prints', async () => {
  const { rows } = await database.pool.query(
    'select storage_key as key, size_bytes as size from file order by id limit 3',
  )
  const [lost, short, changed] = rows
  await rm(pathOf(lost.key))
  await writeFile(pathOf(short.key), 'x')
  await damage(pathOf(changed.key))
  const { stdout } = await run(['doctor', '--full'])
  for (const { key } of rows) assert.ok(stdout.includes(`\`depot restore latest --only files ${key}\``), stdout)
  const restored = await json(['restore', 'latest', '--only', 'files'])
  assert.deepEqual([restored.files, restored.missing], [2, []])
  assert.equal((await stat(pathOf(lost.key))).size, lost.size)
  assert.equal((await json(['restore', at('one.tar'), `files/${changed.key}`, '--only', 'files'])).files, 1)
  assert.equal((await json(['verify'])).findings, 0)
  const unknown = await run(['restore', 'latest', 'none/none', '--only', 'files'])
  assert.match(
    unknown.stderr,
    /^No row refers to the file none\/none\. Use the names that `depot doctor --full` prints/,
  )
  assert.equal((await run(['restore', 'latest', '--only', 'rows'])).code, 2)
  assert.equal((await run(['restore', 'latest', '--only', 'files', '--quiet'])).code, 2)
})

test('a damaged analytics file is named, and its events return; counters keep their values', async () => {
  const healthy = await run(['restore', 'latest', '--only', 'events'])
  assert.match(healthy.stderr, /This instance is not empty: its analytics store has events/)
  const counters = async () => (await database.pool.query('select id, downloads from project order by id')).rows
  const before = await counters()
  const path = at('data/analytics/events.duckdb')
  // Every block, because it is not known which block has events.
  for (let where = 12_288 + 50; where < (await stat(path)).size; where += 262_144) await damage(path, where)
  const read = async () => {
    const store = await openDuckDbStore({ dir: at('data/analytics') })
    try {
      for (const kind of EVENT_KINDS) await store.readEvents(kind, async () => {})
    } finally {
      await store.close()
    }
  }
  await assert.rejects(read, isDamagedStore)
  const backup = await run(['backup', at('two.tar')])
  assert.equal(backup.code, 1)
  assert.match(backup.stderr, /Corrupt database file/)
  assert.doesNotMatch(backup.stderr, /^\s+at /m)
  const { stdout } = await run(['doctor'])
  assert.match(stdout, /^error: The analytics file is damaged; .* `depot restore latest --only events`\.$/m)
  const report = await json(['restore', 'latest', '--only', 'events'])
  assert.ok(report.events > 100, JSON.stringify(report))
  assert.ok((await readdir(at('data/analytics'))).some((name) => name.includes('set-aside')))
  assert.deepEqual(await counters(), before)
  assert.equal((await json(['verify'])).findings, 0)
})
