// Search in a real process: after the first start, stops and crashes, and with `depot reindex` at any time.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
const INDEX = join(dataDir, 'search/0/index')
let server: RunningDepot
before(startReady)
after(async () => {
  await server.stop('SIGKILL')
  remove()
})

function get(path: string): Promise<Response> {
  return fetch(server.url + path, { headers: { 'user-agent': 'depot-tests/1.0' } })
}

/** An approved project of that name, written past Depot, as a person with `psql` would. */
async function publish(name: string): Promise<void> {
  const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
  const pool = createPool(database.connection, { max: 2, applicationName: 'depot-test' })
  const files = await openDiskFiles({ folder: join(dataDir, 'files') })
  const make = createFactories({ db: createDb(pool), files, now: Date.now })
  await make.project({ name, owner: await make.account({ username: name.replaceAll(' ', '-') }) })
  await pool.end()
  await database.stop()
}

async function find(query: string): Promise<string[]> {
  const answer = await get(`/v3/search?query=${encodeURIComponent(query)}`)
  assert.equal(answer.status, 200, await answer.clone().text())
  const { hits } = (await answer.json()) as { hits: { name: string }[] }
  return hits.map(({ name }) => name)
}

/** Starts the server again, and waits until it has read the saved index. */
async function startReady(): Promise<void> {
  server = await startDepot(dataDir)
  const isReady = async (): Promise<boolean> => {
    const { dependencies } = (await (await get('/ready')).json()) as { dependencies: { search: { state?: string } } }
    return dependencies.search.state === 'ready'
  }
  while (!(await isReady())) await sleep(20)
}

/** The time in which a change must be found, with room for a busy machine. */
async function findSoon(query: string, names: string[]): Promise<void> {
  const until = performance.now() + 600_000
  for (let found: string[] = []; ; await sleep(20)) {
    found = (await find(query)).sort()
    if (performance.now() > until || JSON.stringify(found) === JSON.stringify(names))
      return assert.deepEqual(found, names)
  }
}

test('a first start answers searches, and follows what is published', async () => {
  assert.deepEqual(await find(''), [])
  await publish('Copper Kettle')
  await findSoon('copper', ['Copper Kettle'])
  const ready = (await (await get('/ready')).json()) as { dependencies: { search: unknown } }
  assert.deepEqual(ready.dependencies.search, { status: 'ok', state: 'ready' })
})

test('SIGTERM saves the index; the next start answers from it, and catches up after kill -9', async () => {
  assert.equal(await server.stop(), 0)
  assert.ok(existsSync(INDEX))
  await startReady()
  assert.deepEqual(await find('copper'), ['Copper Kettle'])
  assert.doesNotMatch(server.output(), /Built the search index/)
  await publish('Copper Lid')
  await server.stop('SIGKILL')
  await startReady()
  await findSoon('copper', ['Copper Kettle', 'Copper Lid'])
})

test('depot reindex works with and without a running server', async () => {
  const beside = await depot(dataDir, ['reindex', '--json'])
  assert.deepEqual([beside.code, JSON.parse(beside.stdout).by], [0, 'server'], beside.stderr)
  // The log is written with a delay.
  while (!server.output().includes('Built the search index: 2 projects')) await sleep(20)
  assert.equal((await depot(dataDir, ['check'])).code, 0)
  await server.stop()
  const alone = await depot(dataDir, ['reindex', '--json'])
  assert.deepEqual([alone.code, JSON.parse(alone.stdout).documents], [0, 2], alone.stderr)
  await startReady()
  await findSoon('copper', ['Copper Kettle', 'Copper Lid'])
  assert.doesNotMatch(server.output(), /Built the search index/)
})
