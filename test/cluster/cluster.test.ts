// One Depot out of three HTTP processes, a worker, a balancer and an engine behind each port: `npm run test:cluster`.
// Engines are started by scripts/engines, which must have installed them; without one of them, nothing is tested.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '#main/preflight.ts'
import { emptyDatabase, type TestDatabase } from '../support/database.ts'
import { type Engine, startEngine } from '../support/engine.ts'
import { type Balancer, startHaproxy } from '../support/haproxy.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '../support/running-depot.ts'

const run = promisify(execFile)
const ENGINES = ['redis', 's3', 'opensearch', 'clickhouse'] as const
const SERVERS = 3
const KEY = 'cluster-bypass-key-0123456789abcdefgh'
const HEADERS = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': KEY }

const found = Object.fromEntries(
  await Promise.all(ENGINES.map(async (name) => [name, await startEngine(name)] as const)),
)
const ports = await Promise.all(Array.from({ length: SERVERS }, () => freePort('127.0.0.1', 0)))
const haproxy = await startHaproxy(ports)
const missing = [...Object.values(found), haproxy].filter((each) => typeof each === 'string')

after(async () => {
  for (const engine of Object.values(found)) if (typeof engine !== 'string') await engine.remove()
  if (typeof haproxy !== 'string') await haproxy.stop()
})

describe('three servers, one worker, a balancer, four engines', {
  skip: missing.length > 0 && missing.join('; '),
}, () => {
  const { redis, s3, opensearch, clickhouse } = found as Record<(typeof ENGINES)[number], Engine>
  const { url } = haproxy as Balancer
  const folders = Array.from({ length: SERVERS + 1 }, makeDataDir)
  const servers: RunningDepot[] = []
  let worker: RunningDepot | undefined
  let database: TestDatabase
  let env: Record<string, string>
  const slug = `cluster-${Date.now().toString(36)}`
  let fileUrl = ''

  const start = (n: number): Promise<RunningDepot> =>
    startDepot(folders[n]?.dataDir ?? '', { ...env, PORT: String(ports[n]) }, ['--role', 'api'])
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, url), { headers: { ...HEADERS, connection: 'close', ...headers }, redirect: 'manual' })
  const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await look().catch(() => false)); tries += 1) {
      assert.ok(tries < 3000, `${what} did not come`)
      await sleep(100)
    }
  }
  /** Reads all the time until `act` is over; the failures among the answers. */
  async function failuresDuring(path: string, act: () => Promise<void>): Promise<{ failed: string[]; total: number }> {
    const failed: string[] = []
    let total = 0
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) {
        total += 1
        const answer = await get(path).catch((error: unknown) => String(error))
        if (typeof answer === 'string') failed.push(answer)
        else if (answer.status !== 200) failed.push(`${answer.status}`)
        else await answer.arrayBuffer()
      }
    }
    const clients = Array.from({ length: 4 }, client)
    await act().finally(() => {
      isOver = true
    })
    await Promise.all(clients)
    return { failed, total }
  }

  before(async () => {
    database = await emptyDatabase()
    const settings = [redis, s3, opensearch, clickhouse].map(({ settings }) => settings)
    env = Object.assign(
      {
        DATABASE_URL: database.connectionString,
        BASE_URL: url,
        RATE_LIMIT_BYPASS_KEY: KEY,
        CLIENT_ADDRESS_HEADER: 'X-Address',
        DRAIN_SECONDS: '2',
        LOG_LEVEL: 'warn',
        SCANNER_URL: '',
      },
      ...settings,
    )
    // The first makes the schema; the others would wait at its lock.
    servers.push(await start(0))
    servers.push(...(await Promise.all([start(1), start(2)])))
    worker = await startDepot(folders[SERVERS]?.dataDir ?? '', env, ['--role', 'worker'])
    await until('a balancer with servers', async () => (await get('/health')).status === 200)
  })
  after(async () => {
    await Promise.all([...servers, worker].map((server) => server?.stop()))
    await database?.close()
    for (const { remove } of folders) remove()
  })

  test('the README’s program publishes and downloads through the balancer', async () => {
    const script = join(import.meta.dirname, '../../scripts/publish-and-download.ts')
    const { stdout } = await run(process.execPath, [script, '--url', url, '--slug', slug], {
      env: { ...process.env, ...env, DATA_DIR: folders[0]?.dataDir },
    })
    assert.match(stdout, /The hashes agree/)
    const [version] = (await (await get(`/v3/project/${slug}/version`)).json()) as { files: { url: string }[] }[]
    fileUrl = version?.files[0]?.url ?? ''
  })

  test('every server has the same catalogue, files and search', async () => {
    for (const port of ports) {
      const own = (path: string) =>
        fetch(`http://127.0.0.1:${port}${path}`, { headers: { ...HEADERS, 'x-address': '10.0.0.1' } })
      assert.equal((await own(`/v3/project/${slug}`)).status, 200)
      const file = await own(new URL(fileUrl).pathname)
      assert.equal(file.status, 200)
      await file.arrayBuffer()
      await until('the project in search', async () => {
        const { total_hits } = (await (await own(`/v3/search?query=${slug}`)).json()) as { total_hits: number }
        return total_hits === 1
      })
    }
  })

  test('a limit is one for all of them', async () => {
    const limited = { 'x-ratelimit-key': '', 'x-address': '192.0.2.77' }
    const answers = await Promise.all(Array.from({ length: 330 }, () => get('/v3/tag/loader', limited)))
    const allowed = answers.filter(({ status }) => status === 200).length
    assert.ok(allowed >= 300 && allowed < 330, `${allowed} of 330 were allowed`)
  })

  test('downloads at all servers are counted together, once', async () => {
    const before = ((await (await get(`/v3/project/${slug}`)).json()) as { downloads: number }).downloads
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const file = await get(new URL(fileUrl).pathname, { 'x-address': `198.51.100.${n}` })
        assert.equal(file.status, 200)
        await file.arrayBuffer()
      }),
    )
    await until('twelve downloads', async () => {
      const { downloads } = (await (await get(`/v3/project/${slug}`)).json()) as { downloads: number }
      assert.ok(downloads <= before + 12)
      return downloads === before + 12
    })
  })

  test('one of three is killed under load: the balancer’s clients see nothing of it', async () => {
    const { failed, total } = await failuresDuring(`/v3/project/${slug}`, async () => {
      await servers[1]?.stop('SIGKILL')
      servers[1] = await start(1)
    })
    assert.deepEqual(failed, [], `${failed.length} of ${total} failed`)
  })

  test('a rolling restart under load has no failed request', async () => {
    const { failed, total } = await failuresDuring(`/v3/project/${slug}`, async () => {
      for (let n = 0; n < SERVERS; n += 1) {
        assert.equal(await servers[n]?.stop('SIGTERM'), 0)
        servers[n] = await start(n)
      }
    })
    assert.deepEqual(failed, [], `${failed.length} of ${total} failed`)
  })

  test('without Redis limits fall back and everything else goes on', async () => {
    redis.signal('SIGKILL')
    const { failed } = await failuresDuring(`/v3/project/${slug}`, async () => {
      await until('a smaller limit', async () => {
        const { headers } = await get('/v3/tag/loader', { 'x-ratelimit-key': '', 'x-address': '192.0.2.99' })
        return headers.get('x-ratelimit-limit') === '60'
      })
    })
    assert.deepEqual(failed, [])
    await redis.stop()
    await redis.start()
    await until('the usual limit', async () => {
      const { headers } = await get('/v3/tag/loader', { 'x-ratelimit-key': '', 'x-address': '192.0.2.100' })
      return headers.get('x-ratelimit-limit') === '300'
    })
  })

  test('without OpenSearch searches are refused, and the rest goes on', async () => {
    await opensearch.stop()
    await until('a refusal', async () => (await get('/v3/search')).status === 503)
    assert.equal((await get(`/v3/project/${slug}`)).status, 200)
    await opensearch.start()
    await until('search', async () => {
      const { total_hits } = (await (await get(`/v3/search?query=${slug}`)).json()) as { total_hits: number }
      return total_hits === 1
    })
  })

  test('without the store downloads are refused with 503, and come back', async () => {
    await s3.stop()
    await until('a refusal', async () => (await get(new URL(fileUrl).pathname)).status === 503)
    assert.equal((await get(`/v3/project/${slug}`)).status, 200)
    await s3.start()
    await until('the file', async () => (await get(new URL(fileUrl).pathname)).status === 200)
  })

  test('downloads while ClickHouse is away are counted once it is back', async () => {
    const before = ((await (await get(`/v3/project/${slug}`)).json()) as { downloads: number }).downloads
    clickhouse.signal('SIGKILL')
    for (let n = 0; n < 6; n += 1) {
      const file = await get(new URL(fileUrl).pathname, { 'x-address': `203.0.113.${n}` })
      assert.equal(file.status, 200)
      await file.arrayBuffer()
    }
    await clickhouse.stop()
    await clickhouse.start()
    await until('six more downloads', async () => {
      const { downloads } = (await (await get(`/v3/project/${slug}`)).json()) as { downloads: number }
      assert.ok(downloads <= before + 6)
      return downloads === before + 6
    })
  })

  test('a command beside them rebuilds the one index', async () => {
    const { code, stdout, stderr } = await depot(folders[0]?.dataDir ?? '', ['reindex'], env)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /running server has rebuilt/)
  })
})
