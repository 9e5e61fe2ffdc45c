// Depot with its events in ClickHouse, as separate processes: two concurrent writers, ClickHouse killed and restarted,
// Depot killed while ClickHouse is down. Every stored download is counted once.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '#lib/time.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { startClickHouse, withoutClickHouse } from '#test/support/engines/clickhouse.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const KEY = 'lifecycle-bypass-key-0123456789abcdef'

describe('Depot on ClickHouse', { skip: withoutClickHouse }, () => {
  const { dataDir, remove } = makeDataDir()
  let engineFolder = ''
  let clickHouse: Awaited<ReturnType<typeof startClickHouse>>
  let database: TestDatabase
  let env: Record<string, string>
  let servers: RunningDepot[] = []
  let token = ''
  let filePath = ''
  let sent = 0

  before(async () => {
    engineFolder = await mkdtemp(join(tmpdir(), 'depot-clickhouse-'))
    clickHouse = await startClickHouse(engineFolder)
    database = await testDatabase()
    env = {
      DATABASE_URL: database.connectionString,
      CLICKHOUSE_URL: clickHouse.url,
      RATE_LIMIT_BYPASS_KEY: KEY,
      CLIENT_ADDRESS_HEADER: 'X-Address',
      LOG_LEVEL: 'warn',
    }
    const files = await openDiskFiles({ folder: join(dataDir, 'files') })
    const make = createFactories({ db: database.db, files, now: Date.now })
    const project = await make.project({ slug: 'counted' })
    const version = await make.version({ project })
    await make.file({ version, project, bytes: Buffer.from('counted bytes') })
    filePath = `/data/${project.id}/versions/${version.id}/test.jar`
    token = project.owner.token
    servers = [await startDepot(dataDir, env), await startDepot(dataDir, env)]
  })
  after(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    clickHouse.kill()
    await database.close()
    await rm(engineFolder, { recursive: true, force: true })
    remove()
  })

  const server = (index: number): RunningDepot => servers[index] ?? assert.fail('no such server')

  /** Sends a request from its own IP address. */
  async function send(index: number, path: string, init: RequestInit = {}): Promise<Response> {
    sent += 1
    const headers = {
      'user-agent': 'depot-tests/1.0',
      'x-ratelimit-key': KEY,
      'x-address': `10.0.${sent >> 8}.${sent & 255}`,
    }
    return fetch(server(index).url + path, { ...init, headers: { ...headers, ...(init.headers as object) } })
  }

  async function download(index: number, count: number): Promise<void> {
    const answers = await Promise.all(Array.from({ length: count }, () => send(index, filePath)))
    for (const answer of answers) assert.equal(answer.status, 200)
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  }

  function ask(): Promise<Response> {
    const [start, end] = [-DAY_MS, DAY_MS].map((ms) => new Date(Date.now() + ms).toISOString())
    const time_range = { start, end, resolution: { slices: 1 } }
    const body = JSON.stringify({ time_range, return_metrics: { project_downloads: {} }, project_ids: ['counted'] })
    return send(0, '/v3/analytics', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: token },
    })
  }

  const counted = async () => ((await (await ask()).json()) as { downloads: number }[][])[0]?.[0]?.downloads

  const counter = async (index = 0) =>
    ((await (await send(index, '/v3/project/counted')).json()) as { downloads: number }).downloads

  async function metric(index: number, name: string): Promise<number> {
    const text = await (await send(index, '/metrics')).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1),
    )
  }

  const stored = (index: number) => metric(index, 'depot_analytics_events_total{kind="download",outcome="stored"}')

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await sleep(50)
  }

  test('two processes store and count concurrently', async () => {
    for (let round = 1; round <= 3; round += 1) {
      await Promise.all([download(0, 10), download(1, 10)])
      await until(async () => (await stored(0)) >= round * 10 && (await stored(1)) >= round * 10)
    }
    await until(async () => (await counter()) === 60 && (await counter(1)) === 60)
    assert.equal(await counted(), 60)
  })

  test('while ClickHouse is unavailable, events wait on disk and queries return 503', async () => {
    clickHouse.kill()
    const before = await stored(0)
    await download(0, 20)
    await until(async () => (await stored(0)) === before + 20)
    assert.ok((await metric(0, 'depot_analytics_spool_bytes')) > 0)
    const answer = await ask()
    assert.equal(answer.status, 503)
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
    assert.equal(((await answer.json()) as { error: string }).error, 'analytics_database_error')
    const ready = await send(0, '/ready')
    const { dependencies } = (await ready.json()) as { dependencies: Record<string, { status: string }> }
    assert.deepEqual(
      [ready.status, dependencies['analytics']?.status, dependencies['database']?.status],
      [200, 'degraded', 'ok'],
    )
    assert.equal(await counter(), 60)
  })

  test('a process that was killed in the meantime starts without ClickHouse, and no stored event is lost or duplicated', async () => {
    await Promise.all(servers.map((each) => each.stop('SIGKILL')))
    servers = [await startDepot(dataDir, env), await startDepot(dataDir, env)]
    await Promise.all([download(0, 5), download(1, 5)])
    await until(async () => (await stored(0)) === 5 && (await stored(1)) === 5)
    await clickHouse.start()
    await until(async () => (await counter()) >= 90)
    await until(async () => (await metric(0, 'depot_analytics_spool_batches')) === 0)
    assert.equal(await counted(), 90)
    await until(async () => (await counter(1)) >= 90)
    assert.deepEqual([await counter(), await counter(1)], [90, 90])
  })

  test('SIGTERM with ClickHouse away ends in time and loses nothing', async () => {
    clickHouse.kill()
    await download(0, 10)
    assert.equal(await server(0).stop(), 0)
    await clickHouse.start()
    servers[0] = await startDepot(dataDir, env)
    await until(async () => (await counter()) >= 100)
    assert.deepEqual([await counter(), await counted()], [100, 100])
  })

  test('a wrong password stops the start in a sentence that does not show it', async () => {
    const wrong = { ...env, CLICKHOUSE_URL: clickHouse.url.replace('depot-test', 'wrong-secret') }
    const { code, stderr } = await depot(dataDir, ['serve'], wrong)
    assert.equal(code, 1)
    assert.match(stderr, /CLICKHOUSE_URL: .* rejected the user depot or the password/)
    assert.doesNotMatch(stderr, /wrong-secret/)
  })
})
