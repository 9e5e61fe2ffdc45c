// Every documented way to start Depot stops on SIGTERM and SIGINT, cleanly and within the grace period.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { makeDataDir, type RunningDepot, startDepotBy } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../..')
const { dataDir, remove } = makeDataDir()
after(remove)

/** The folder of the `depot` command, as an installation puts it on the path. */
const commands = mkdtempSync(join(tmpdir(), 'depot-command-'))
symlinkSync(join(ROOT, 'bin/depot.mjs'), join(commands, 'depot'))
after(() => rmSync(commands, { recursive: true }))

/** The started programs use the same `node` as the tests. */
const PATH = [commands, dirname(process.execPath), process.env['PATH']].join(delimiter)

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const dockerCommand = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[]

const WAYS: readonly { words: readonly string[]; signals: readonly NodeJS.Signals[] }[] = [
  { words: ['node', 'bin/depot.mjs', 'serve'], signals: ['SIGTERM', 'SIGINT'] },
  { words: ['npm', 'start'], signals: ['SIGTERM', 'SIGINT'] },
  { words: ['npm', 'run', 'depot', '--', 'serve'], signals: ['SIGTERM', 'SIGINT'] },
  { words: ['npm', 'run', 'dev'], signals: ['SIGTERM'] },
  { words: dockerCommand, signals: ['SIGTERM'] },
]

/** Asserts that the server itself, and not only what started it, has ended and has closed everything. */
async function assertEnded(server: RunningDepot): Promise<void> {
  await assert.rejects(fetch(`${server.url}/health`), 'it does not listen any more')
  assert.equal(existsSync(join(dataDir, 'depot-owner.json')), false, 'it has given up the data folder')
  assert.match(server.output(), /"msg":"Stopped"/)
}

for (const { words, signals } of WAYS) {
  for (const signal of signals) {
    test(`${words.join(' ')} ends with ${signal}`, async () => {
      const server = await startDepotBy(words, dataDir, { PATH })
      await server.stop(signal)
      await assertEnded(server)
    })
  }
}

test('npm start ends with Ctrl-C, which the terminal and npm both pass on', async () => {
  const server = await startDepotBy(['npm', 'start'], dataDir, { PATH })
  const ended = new Promise((resolve) => server.child.once('exit', resolve))
  process.kill(-(server.child.pid ?? 0), 'SIGINT')
  await ended
  await assertEnded(server)
})

test('a server that is asked to stop turns balancers away first, and still answers', async () => {
  const server = await startDepotBy(['node', 'bin/depot.mjs', 'serve'], dataDir, { PATH, DRAIN_SECONDS: '3600' })
  const before = await fetch(`${server.url}/ready?for=balancer`)
  assert.equal(before.status, 200)
  server.child.kill('SIGTERM')
  while (!server.output().includes('"msg":"Stopping"')) await once(server.child.stdout as Readable, 'data')
  const after = await fetch(`${server.url}/ready?for=balancer`)
  assert.equal(after.status, 503)
  assert.deepEqual(await after.json(), {
    status: 'unavailable',
    dependencies: { server: { status: 'failing', state: 'stopping' } },
  })
  const still = await fetch(`${server.url}/v3/games`, { headers: { 'user-agent': 'x' } })
  assert.deepEqual([still.status, still.headers.get('connection')], [200, 'close'])
  await server.stop('SIGKILL')
})

test('a server whose log nobody reads any more serves and stops', async () => {
  const server = await startDepotBy(['node', 'bin/depot.mjs', 'serve'], dataDir, { PATH })
  server.child.stdout?.destroy()
  const found = await fetch(`${server.url}/v3/games`, { headers: { 'user-agent': 'x' } })
  assert.equal(found.status, 200)
  assert.equal(await server.stop(), 0)
})

test('sixteen threads process files, images and passwords, however Depot is started', {
  skip: process.platform !== 'linux',
}, async () => {
  const server = await startDepotBy(['node', 'bin/depot.mjs', 'serve'], dataDir, { PATH })
  try {
    // Each look at the folders of the data is a task of a thread.
    await fetch(`${server.url}/ready`)
    const tasks = `/proc/${server.child.pid}/task`
    const names = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, 'comm'), 'utf8').trim())
    assert.ok(names.filter((name) => name === 'libuv-worker').length >= 16, names.join())
  } finally {
    await server.stop()
  }
})
