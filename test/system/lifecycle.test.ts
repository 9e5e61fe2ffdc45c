// Start, stop and recovery of the real process with its embedded database, and the commands of docs/api/first-requests.md.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const run = promisify(execFile)
const AGENT = { 'user-agent': 'depot-tests/1.0' }
const { dataDir, remove } = makeDataDir()
after(remove)

const get = async (url: string) => (await fetch(url, { headers: AGENT })).status

describe('one data folder', () => {
  test('starts empty, answers, says it is ready, and stops cleanly on SIGTERM', async () => {
    const server = await startDepot(dataDir)
    assert.equal(await get(`${server.url}/health`), 200)
    const ready = await fetch(`${server.url}/ready`)
    assert.equal(ready.status, 200)
    const { status, dependencies } = (await ready.json()) as {
      status: string
      dependencies: Record<string, { status: string }>
    }
    assert.equal(status, 'ready')
    for (const name of ['database', 'files', 'counters', 'mail']) assert.equal(dependencies[name]?.status, 'ok', name)
    assert.match(await (await fetch(`${server.url}/metrics`)).text(), /depot_http_requests_total/)
    const ofProcess = (name: string) => readFile(`/proc/${server.child.pid}/${name}`, 'utf8')
    assert.match(await ofProcess('cmdline'), /\0--max-semi-space-size=32\0/)
    assert.match(await ofProcess('environ'), /\0?MALLOC_ARENA_MAX=2\0/)
    assert.equal(await server.stop(), 0)
    await assert.rejects(fetch(`${server.url}/health`))
    const named = [...server.output().matchAll(/"([^"\\]+)":/g)].map(([, name = '']) => name)
    assert.ok(named.includes('start_ms'))
    assert.deepEqual(
      named.filter((name) => !/^[a-z0-9_]+$/.test(name)),
      [],
      'docs/contributors/logging.md: names are snake_case',
    )
  })

  test('the documented program publishes, approves, downloads and compares while the server runs', async () => {
    const server = await startDepot(dataDir)
    try {
      const script = join(import.meta.dirname, '../../scripts/publish-and-download.ts')
      const { TEST_DATABASE_URL: _, ...env } = process.env
      const { stdout } = await run(process.execPath, [script, '--url', server.url, '--slug', 'walked'], {
        env: { ...env, DATA_DIR: dataDir },
      })
      assert.match(stdout, /The hashes agree/)
      assert.equal(await get(`${server.url}/v3/project/walked`), 200)
    } finally {
      await server.stop()
    }
  })

  test('a second server on the same folder is rejected in one sentence', async () => {
    const server = await startDepot(dataDir)
    try {
      const second = await depot(dataDir, ['serve'])
      assert.equal(second.code, 1)
      assert.match(second.stderr, /already running on this data folder \(process \d+\)/)
      assert.equal(second.stderr.trim().split('\n').length, 1, second.stderr)
      assert.equal(await get(`${server.url}/health`), 200, 'the first one is not disturbed')
    } finally {
      await server.stop()
    }
  })

  test('after kill -9 the next start recovers by itself, and nothing committed is lost', async () => {
    const server = await startDepot(dataDir)
    await server.stop('SIGKILL')
    const again = await startDepot(dataDir)
    try {
      assert.equal(await get(`${again.url}/v3/project/walked`), 200)
    } finally {
      assert.equal(await again.stop(), 0)
    }
  })

  test('SIGTERM lets a request in flight finish and counts its download', async () => {
    const server = await startDepot(dataDir)
    const version = (
      (await (await fetch(`${server.url}/v3/project/walked/version`, { headers: AGENT })).json()) as {
        files: { url: string }[]
      }[]
    )[0]
    const path = new URL(version?.files[0]?.url ?? '').pathname
    const before = (
      (await (await fetch(`${server.url}/v3/project/walked`, { headers: AGENT })).json()) as { downloads: number }
    ).downloads
    const { port, hostname } = new URL(server.url)
    const answer = new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname, () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: slow\r\n`),
      )
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1')
      })
      socket.on('close', () => resolve(text))
      // The request is complete only after the server was asked to stop.
      setTimeout(() => {
        server.child.kill('SIGTERM')
        setTimeout(() => socket.write('\r\n'), 100)
      }, 100)
    })
    assert.match(await answer, /^HTTP\/1\.1 200 OK/)
    assert.equal(await server.stop(), 0)
    const again = await startDepot(dataDir)
    const after = (
      (await (await fetch(`${again.url}/v3/project/walked`, { headers: AGENT })).json()) as { downloads: number }
    ).downloads
    assert.equal(after, before + 1)
    await again.stop()
  })

  test('roles: `api` answers without doing jobs, `worker` does jobs without answering', async () => {
    const api = await startDepot(dataDir, {}, ['--role', 'api'])
    assert.equal(await get(`${api.url}/health`), 200)
    const asked = await fetch(`${api.url}/_internal/auth/password/reset`, {
      method: 'POST',
      headers: { ...AGENT, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'walked-author' }),
    })
    assert.equal(asked.status, 204)
    assert.equal(await api.stop(), 0)
    const outbox = join(dataDir, 'outbox')
    const resets = async () => {
      const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.eml'))
      const texts = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
      return texts.filter((text) => /^Subject: .*password/im.test(text)).length
    }
    assert.equal(await resets(), 0)
    const worker = await startDepot(dataDir, {}, ['--role', 'worker'])
    assert.equal(worker.url, '', 'no address')
    assert.match(worker.output(), /Depot runs jobs \(role worker\)/)
    assert.doesNotMatch(worker.output(), /no address|listens on/)
    while ((await resets()) === 0) await sleep(20)
    assert.equal(await worker.stop(), 0)
    const wrong = await depot(dataDir, ['serve', '--role', 'both'])
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /--role must be one of all, api, worker/)
  })
})

test('a start that fails half-way stops what it has started, and says why in one sentence', async () => {
  const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none'
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const address = blocker.address()
  const PORT = String(typeof address === 'object' ? address?.port : 0)
  try {
    for (const [env, sentence] of [
      [{ PORT }, /listen on 127\.0\.0\.1, port \d+: another program uses this port/],
      [{ DATABASE_URL }, /database cannot be reached: .*ECONNREFUSED/],
      [{ DATABASE_URL, GEOIP_DATABASE: '/nowhere' }, /Cannot read the GeoIP database \/nowhere/],
    ] as const) {
      const { code, stderr } = await depot(dataDir, ['serve'], env)
      assert.equal(code, 1)
      assert.match(stderr, sentence)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
    }
  } finally {
    blocker.close()
  }
  const unusable = await depot(join(import.meta.filename, 'below-a-file'), ['serve'])
  assert.match(unusable.stderr, /^Depot cannot use the data folder [^\n]*\n$/)
})

test('a start reports every error of the environment together and fails', async () => {
  const { code, stderr } = await depot(dataDir, ['serve'], {
    PORT: 'eighty',
    BASE_URL: 'nowhere',
    ADMIN_KEY: 'short',
    REGISTRATION: 'maybe',
  })
  assert.equal(code, 1)
  for (const name of ['PORT', 'BASE_URL', 'ADMIN_KEY', 'REGISTRATION'])
    assert.match(stderr, new RegExp(`\\b${name} must be`))
  assert.ok(!stderr.includes('short'), 'secrets are not repeated')
})
