// Moves the events of an instance into a real ClickHouse, and compares both sides.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { testClickHouse, withoutClickHouse } from '#test/support/engines/clickhouse.ts'
import { aClick, aDownload, aView, batchOf, somePlaytime, times } from '#test/support/factories/analytics-events.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { type Finished, makeDataDir } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
let database: TestDatabase
before(async () => {
  database = await testDatabase()
  await succeed(['seed', '--projects', '12'])
})
after(async () => {
  await database?.close()
  remove()
})

function run(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return commandHere(args, { DATABASE_URL: database.connectionString, DATA_DIR: dataDir, ...env })
}

async function succeed(args: string[], env: Record<string, string> = {}): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await run([...args, '--json'], env)
  assert.equal(code, 0, stdout + stderr)
  return JSON.parse(stdout)
}

/** The file that `--to` names. */
function settings(values: Record<string, string>): string {
  const path = join(dataDir, 'new.env')
  writeFileSync(
    path,
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  return path
}

test('events go into ClickHouse, and the counters agree with them there', {
  skip: withoutClickHouse,
}, async (context) => {
  const clickHouse = testClickHouse()
  context.after(clickHouse.remove)
  const { rows } = await database.pool.query('select id, project_id from version order by id limit 3')
  const store = await openDuckDbStore({ dir: join(dataDir, 'analytics') })
  const downloads = times(12_345, (i) => {
    const { id, project_id } = rows[i % rows.length]
    return aDownload({
      project_id,
      version_id: id,
      site_path: `/ü${i}`,
      recorded_at: Date.now() - (i % 2_000) * HOUR_MS,
    })
  })
  await store.append('download', batchOf(downloads.slice(0, 10_000)))
  await store.append('download', batchOf(downloads.slice(10_000)))
  await store.append('view', batchOf([aView({ monetized: true, domain: 'site.example' }), aView()]))
  await store.append('playtime', batchOf([somePlaytime({ seconds: 65_535 })]))
  await store.append('affiliate_click', batchOf([aClick({ country: 'DE' })]))
  await store.close()
  const path = settings({ CLICKHOUSE_URL: clickHouse.url })
  const { events, resumed } = await succeed(['move', 'analytics', '--to', path])
  assert.ok(events >= downloads.length + 4 && !resumed, String(events))
  const verified = await succeed(['verify'], { CLICKHOUSE_URL: clickHouse.url })
  assert.deepEqual([verified.findings, verified.skipped], [0, []])
  const again = await run(['move', 'analytics', '--to', path])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^The new store already has events/)
})
