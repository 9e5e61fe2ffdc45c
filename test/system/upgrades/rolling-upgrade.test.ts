// A rolling upgrade: the recorded release serves while the present one migrates the database and joins, and no request fails.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase } from '#test/support/app/database.ts'
import { makeDataDir, type RunningDepot, startDepot, startDepotBy } from '#test/support/processes/running-depot.ts'
import { addedMigrations, listRecordings, readRecording } from '#test/upgrades/recording.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The newest release whose database an upgrade changes; without such a release, the newest. */
const NAME = await previousRelease()
const HEADERS = { 'user-agent': 'rolling-upgrade-test/1.0' }
/** Requests that each server answers after both run. */
const ROUNDS = 30
const BYPASS = 'test-bypass-key-0123456789abcdefghij'

async function previousRelease(): Promise<string> {
  const newestFirst = listRecordings().reverse()
  for (const name of newestFirst) {
    if ((await addedMigrations(name)).length > 0) return name
  }
  return newestFirst[0] ?? ''
}

/** Returns whether the repository has the commit: a clone without history has only the newest. */
function hasCommit(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Writes the program of a commit to a folder, with the packages of this one. */
function checkOut(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'depot-release-'))
  const tar = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: tar })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Sends reads and writes to a server until `stop`, and counts what fails. */
function load(server: RunningDepot, token: string, failures: string[]) {
  let isStopped = false
  let count = 0
  const headers = { ...HEADERS, 'x-ratelimit-key': BYPASS, authorization: token, 'content-type': 'application/json' }
  const send = async (method: string, path: string, body?: unknown): Promise<string> => {
    try {
      const payload = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(server.url + path, { method, headers, ...payload })
      const text = await response.text()
      if (response.status >= 400) failures.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
      return text
    } catch (error) {
      failures.push(`${method} ${path}: ${error}`)
      return '{}'
    }
  }
  async function run(): Promise<void> {
    while (!isStopped) {
      const { id } = JSON.parse(await send('POST', '/v3/collection', { name: 'Lights', projects: [] })) as {
        id?: string
      }
      if (id !== undefined) {
        await send('GET', `/v3/collection/${id}`)
        await send('PATCH', `/v3/collection/${id}`, { description: `Change ${count}` })
        await send('DELETE', `/v3/collection/${id}`)
      }
      for (const path of ['/v3/user', '/v3/search', '/v3/tag/loader', '/v3/statistics', '/', '/ready'])
        await send('GET', path)
      count += 1
    }
  }
  const running = run()
  return {
    count: () => count,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

async function untilCounted(loads: readonly { count(): number }[], failures: readonly string[]): Promise<void> {
  const targets = loads.map((each) => each.count() + ROUNDS)
  while (failures.length === 0 && loads.some((each, i) => each.count() < (targets[i] ?? 0)))
    await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Creates an account and a token with the commands of a release. */
function createToken(entry: string, dataDir: string, env: Record<string, string>): string {
  const command = (...args: string[]): string =>
    execFileSync(process.execPath, [entry, ...args], {
      env: { ...process.env, DATA_DIR: dataDir, ...env },
      encoding: 'utf8',
    })
  command(
    'user',
    'create',
    '--username',
    'someone',
    '--email',
    'someone@example.org',
    '--password',
    'a-long-password-9',
  )
  return command('token', 'create', '--user', 'someone', '--scopes', 'all').trim()
}

test('the release before and the present one serve together on the migrated database', async (t) => {
  const { commit } = readRecording(NAME)
  if (!hasCommit(commit)) return t.skip(`this clone does not contain the commit ${commit} of Depot ${NAME}`)
  const former = checkOut(commit)
  const database = await emptyDatabase()
  const folders = [makeDataDir(), makeDataDir()] as const
  const shared = {
    DATABASE_URL: database.connectionString,
    RATE_LIMIT_BYPASS_KEY: BYPASS,
    BASE_URL: 'https://depot.test',
  }
  const servers: RunningDepot[] = []
  const failures: string[] = []
  try {
    const entry = join(former, 'bin/depot.mjs')
    const before = await startDepotBy([process.execPath, entry, 'serve'], folders[0].dataDir, shared, former)
    servers.push(before)
    const token = createToken(entry, folders[0].dataDir, shared)
    const loads = [load(before, token, failures)]
    // Migrates the database under load.
    const present = await startDepot(folders[1].dataDir, shared)
    servers.push(present)
    loads.push(load(present, token, failures))
    await untilCounted(loads, failures)
    await Promise.all(loads.map((each) => each.stop()))
    assert.deepEqual(failures, [])
    assert.ok(loads.every((each) => each.count() >= ROUNDS))
    assert.equal(await before.stop(), 0)
    assert.equal((await fetch(`${present.url}/ready`, { headers: HEADERS })).status, 200)
  } finally {
    for (const server of servers) await server.stop()
    for (const { remove } of folders) remove()
    await database.close()
    rmSync(former, { recursive: true, force: true })
  }
})
