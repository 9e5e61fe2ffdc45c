// A damaged page of PostgreSQL: each place reports it, and the repair of docs/operators/operating.md works.
import assert from 'node:assert/strict'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createPool } from '#platform/db/db.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const KEY = 'metrics-of-the-test'

/** Runs statements as the repair does, in one session. */
async function inDatabase(
  act: (run: (statement: string) => Promise<{ path?: string }[]>) => Promise<void>,
): Promise<string> {
  const database: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, holder: 'command', log: LOG })
  const pool = createPool(database.connection, { max: 1, applicationName: 'test' })
  try {
    await act(async (statement) => (await pool.query(statement)).rows)
    return database.folder ?? ''
  } finally {
    await pool.end()
    await database.stop()
  }
}

function damage(path: string): void {
  const file = openSync(path, 'r+')
  const bytes = Buffer.alloc(64)
  readSync(file, bytes, 0, 64, 8_000)
  writeSync(
    file,
    bytes.map((byte) => byte ^ 255),
    0,
    64,
    8_000,
  )
  closeSync(file)
}

test('a damaged page is reported by /ready, the log, the metric, doctor and backup; after the repair, by none', async () => {
  assert.equal((await depot(dataDir, ['seed', '--projects', '6'])).code, 0)
  const paths: string[] = []
  let project = ''
  const folder = await inDatabase(async (run) => {
    await run('checkpoint')
    project = (await run("select id as path from project where status = 'approved' limit 1"))[0]?.path ?? ''
    for (const name of ['team_member', 'version_pkey'])
      paths.push((await run(`select pg_relation_filepath('${name}') as path`))[0]?.path ?? '')
  })
  const [table = '', index = ''] = paths
  damage(join(folder, table))
  const server = await startDepot(dataDir, { METRICS_TOKEN: KEY })
  try {
    const get = (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })
    assert.equal((await get(`/v3/project/${project}/members`)).status, 500)
    const ready = async () => (await (await get('/ready')).json()) as { dependencies: { database: object } }
    while (!('state' in (await ready()).dependencies.database));
    assert.deepEqual((await ready()).dependencies.database, { status: 'degraded', state: 'damaged' })
    assert.match(await (await get('/metrics')).text(), /^depot_damaged\{part="database"\} 1$/m)
  } finally {
    await server.stop()
  }
  assert.match(server.output(), /"level":"error".*PostgreSQL found a damaged page\. Run `depot doctor`/)
  const doctor = await depot(dataDir, ['doctor'])
  assert.equal(doctor.code, 1)
  assert.match(
    doctor.stdout,
    /^error: A page of the table team_member is damaged, .* restore the last backup, or save .*operating\.md/m,
  )
  const backup = await depot(dataDir, ['backup', join(dataDir, 'x.tar')])
  assert.equal(backup.code, 1)
  assert.match(backup.stderr, /^A part of the database is damaged\. Run `depot doctor --full`, .*\n$/)

  damage(join(folder, index))
  await inDatabase(async (run) => {
    await run('set zero_damaged_pages = on')
    await run('vacuum (freeze, disable_page_skipping) team_member')
    await run('reindex table team_member')
  })
  const rest = await depot(dataDir, ['doctor', '--full'])
  assert.match(rest.stdout, /^error: The index version_pkey of version is damaged, .* `depot doctor --fix`\.$/m)
  await depot(dataDir, ['doctor', '--full', '--fix'])
  assert.match(
    (await depot(dataDir, ['doctor', '--full', '--fix'])).stdout,
    /^corrected: PostgreSQL reported a damaged page/m,
  )
  assert.doesNotMatch((await depot(dataDir, ['doctor', '--full'])).stdout, /damaged/)
})
