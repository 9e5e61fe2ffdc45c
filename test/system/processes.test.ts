// Several HTTP processes behind one port: shared state, visibility of each other's writes, and shutdown.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const BYPASS = 'test-bypass-key-0123456789abcdefghij'
const ENV = { HTTP_PROCESSES: '2', RATE_LIMIT_BYPASS_KEY: BYPASS }
const AGENT = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS }

type Answer = { status: number; headers: Record<string, unknown>; body: string }

/** Sends each request on a new connection, so that the kernel chooses the process. */
async function send(
  method: string,
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent = request(url, {
    method,
    agent: false,
    headers: {
      ...AGENT,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  })
  sent.end(text)
  const [response] = await once(sent, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces).toString() }
}

type Line = Record<string, unknown> & { msg?: string; process?: string }

function linesOf(server: RunningDepot): Line[] {
  const whole = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
  return whole.map((line) => JSON.parse(line) as Line)
}

/** The HTTP processes that run now, by their parent. */
function childrenOf(server: RunningDepot): number[] {
  const { pid } = server.child
  const all = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  return all.filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('http-child')
    } catch {
      // The process has exited.
      return false
    }
  })
}

async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(20)
  }
}

const isGone = (pid: number): boolean => !existsSync(`/proc/${pid}`)

describe('two processes', () => {
  const { dataDir, remove } = makeDataDir()
  let server: RunningDepot
  let token = ''
  let userId = ''
  before(async () => {
    server = await startDepot(dataDir, ENV)
    const user = [
      'user',
      'create',
      '--username',
      'mira',
      '--email',
      'mira@example.org',
      '--password',
      'a long pass phrase 42',
    ]
    const made = await depot(dataDir, [...user, '--json'])
    assert.equal(made.code, 0, made.stderr)
    userId = JSON.parse(made.stdout).id
    const given = await depot(dataDir, ['token', 'create', '--user', 'mira', '--scopes', 'all', '--json'])
    token = JSON.parse(given.stdout).token
  })
  after(async () => {
    await server.stop()
    remove()
  })
  const get = (path: string, headers: Record<string, string> = {}) => send('GET', `${server.url}${path}`, { headers })
  const writeBio = async (bio: string): Promise<void> => {
    const { status, body } = await send('PATCH', `${server.url}/v3/user/${userId}`, {
      headers: { authorization: token },
      body: { bio },
    })
    assert.equal(status, 204, body)
  }
  const readBio = async (): Promise<string> => JSON.parse((await get(`/v3/user/${userId}`)).body).bio

  test('both answer, each log line names its process, and /metrics is of both', async () => {
    const answering = await until(async () => {
      assert.equal((await get('/v3/tag/loader')).status, 200)
      const names = new Set(
        linesOf(server)
          .filter(({ msg }) => msg === 'request')
          .map((line) => line.process),
      )
      return names.size === 2 ? names : undefined
    })
    assert.deepEqual([...answering].sort(), ['http-1', 'http-2'])
    assert.deepEqual([...new Set(linesOf(server).map((line) => line.process))].sort(), ['http-1', 'http-2', 'main'])
    const count = async (): Promise<number> => {
      const { body } = await get('/metrics')
      assert.match(body, /^depot_http_processes 2$/m)
      return Number(/^depot_http_requests_total\{operation="listLoaders",status="200"\} (\d+)$/m.exec(body)?.[1] ?? 0)
    }
    const first = await count()
    assert.ok(first > 0)
    for (let n = 0; n < 10; n += 1) await get('/v3/tag/loader')
    assert.equal(await count(), first + 10)
    // Values that each process reports for the same resource are not added up.
    const { body } = await get('/metrics')
    assert.match(body, /^depot_cache_enabled 1$/m)
    const { blocks, bsize } = statfsSync(dataDir)
    assert.equal(Number(/^depot_data_disk_bytes\{kind="total"\} (\d+)$/m.exec(body)?.[1]), blocks * bsize)
  })

  test('/ready reports the state of resources that other processes hold', async () => {
    const { status, body } = await get('/ready')
    assert.equal(status, 200)
    const { dependencies } = JSON.parse(body)
    assert.deepEqual(Object.keys(dependencies), ['database', 'files', 'search', 'analytics', 'counters', 'mail'])
  })

  test('a client finds its own writes in every process', async () => {
    for (let round = 0; round < 40; round += 1) {
      // Warm in both, with high probability: a stale entry would be found.
      await Promise.all([readBio(), readBio(), readBio()])
      const bio = `round ${round}`
      await writeBio(bio)
      assert.deepEqual(await Promise.all([readBio(), readBio(), readBio(), readBio()]), Array(4).fill(bio))
    }
  })

  test('concurrent reads that begin after the response to a write return the new state', async () => {
    let written = 0
    let isOver = false
    const reader = async (): Promise<number> => {
      let reads = 0
      while (!isOver) {
        const floor = written
        const seen = Number((await readBio()).split(' ')[1])
        assert.ok(seen >= floor, `${seen} was read after ${floor} had been written`)
        reads += 1
      }
      return reads
    }
    await writeBio('state 0')
    const readers = Array.from({ length: 6 }, reader)
    const writer = async (): Promise<void> => {
      for (let n = 1; n <= 60; n += 1) {
        await writeBio(`state ${n}`)
        written = n
      }
      isOver = true
    }
    const [, ...reads] = await Promise.all([writer(), ...readers])
    assert.ok(reads.every((count) => count > 0))
  })

  test('a limit is one for both', async () => {
    const startedAt = performance.now()
    const asked = await Promise.all(
      Array.from({ length: 420 }, () => get('/v3/tag/loader', { 'x-ratelimit-key': 'none' })),
    )
    const wonBack = Math.ceil(((performance.now() - startedAt) / 60_000) * 300)
    const allowed = asked.filter(({ status }) => status === 200).length
    // A process takes a few units at a time without asking: an eighth of the burst together, at most.
    const bound = 300 + 300 / 8 + wonBack
    assert.ok(allowed >= 300 && allowed <= bound, `${allowed} of at most ${bound}`)
    assert.ok(asked.some(({ status }) => status === 429))
  })

  test('searches find what was made, and commands speak to the running server', async () => {
    const reindex = await depot(dataDir, ['reindex'])
    assert.equal(reindex.code, 0, reindex.stderr)
    assert.match(reindex.stdout, /The server rebuilt/)
    const { status, body } = await get('/v3/search')
    assert.equal(status, 200, body)
  })

  test('a killed process is replaced, and only its requests fail', async () => {
    const [victim = 0, ...others] = childrenOf(server)
    let failed = 0
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) {
        const answer = await get('/v3/tag/loader').catch(() => undefined)
        if (answer === undefined) failed += 1
        else assert.equal(answer.status, 200)
      }
    }
    const clients = [client(), client(), client(), client()]
    process.kill(victim, 'SIGKILL')
    const after = await until(() => {
      const now = childrenOf(server)
      return now.length === 2 && !now.includes(victim) ? now : undefined
    })
    assert.ok(after.includes(others[0] ?? 0))
    await until(async () => (/^depot_http_processes 2$/m.test((await get('/metrics')).body) ? true : undefined))
    isOver = true
    await Promise.all(clients)
    // Each client has one request at a time, so that the process held four at most.
    assert.ok(failed <= 4, `${failed} failed`)
    assert.ok(linesOf(server).some(({ msg }) => msg === 'A process has died; another takes its place'))
    assert.equal(await readBio(), 'state 60')
  })

  test('a stopping process finishes its requests and is replaced', async () => {
    const [leaving = 0] = childrenOf(server)
    process.kill(leaving, 'SIGTERM')
    await until(() => (isGone(leaving) ? true : undefined))
    await until(async () => (/^depot_http_processes 2$/m.test((await get('/metrics')).body) ? true : undefined))
    assert.equal(childrenOf(server).length, 2)
  })

  test('a second server on the same port or folder is rejected', async () => {
    const port = new URL(server.url).port
    const samePort = makeDataDir()
    const refused = await depot(samePort.dataDir, ['serve'], { ...ENV, PORT: port })
    samePort.remove()
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /another program uses this port/)
    const sameFolder = await depot(dataDir, ['serve'], ENV)
    assert.equal(sameFolder.code, 1)
    assert.match(sameFolder.stderr, /Depot is already running on this data folder/)
    assert.equal((await get('/health')).status, 200)
  })

  test('SIGTERM ends all of them', async () => {
    const children = childrenOf(server)
    assert.equal(await server.stop(), 0)
    assert.ok(children.every(isGone))
    assert.ok(!existsSync(join(dataDir, 'run-processes')))
    await assert.rejects(get('/health'))
  })
})

test('when the process that holds everything is killed, the others end, and the next start recovers', async () => {
  const { dataDir, remove } = makeDataDir()
  try {
    const server = await startDepot(dataDir, ENV)
    const children = childrenOf(server)
    await server.stop('SIGKILL')
    for (const child of children) await until(() => (isGone(child) ? true : undefined))
    const again = await startDepot(dataDir, ENV)
    assert.equal((await send('GET', `${again.url}/health`)).status, 200)
    assert.equal(await again.stop(), 0)
  } finally {
    remove()
  }
})

test('works without shared ports, and in a folder with a long name', async () => {
  const { dataDir, remove } = makeDataDir()
  const deep = join(dataDir, 'a-folder-with-a-name'.repeat(6))
  mkdirSync(deep, { mode: 0o711 })
  // The error of Node.js on systems without this socket option.
  const refuse =
    "import{Server}from'node:net';const l=Server.prototype.listen;Server.prototype.listen=function(o,...r){" +
    "if(o?.reusePort){queueMicrotask(()=>this.emit('error',Object.assign(new Error('x'),{code:'ENOTSUP'})));return this}" +
    'return l.call(this,o,...r)}'
  try {
    const server = await startDepot(deep, {
      ...ENV,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}`,
    })
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('GET', `${server.url}/health`)))
    assert.ok(answers.every(({ status }) => status === 200))
    await until(async () => {
      await send('GET', `${server.url}/health`)
      return new Set(
        linesOf(server)
          .filter(({ msg }) => msg === 'request')
          .map((line) => line.process),
      ).size === 2
        ? true
        : undefined
    })
    assert.equal(await server.stop(), 0)
  } finally {
    remove()
  }
})
