// Backup and restore as processes: while a server writes, into a database whose role is not a superuser, and after a
// restore was killed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { openArchive } from '#features/operation/backup/archive/archive-reader.ts'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { apiClient } from '#test/support/http/api-client.ts'
import { depot, ENTRY, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

function folder(): string {
  const { dataDir, remove } = makeDataDir()
  after(remove)
  return dataDir
}

const home = folder()
/** The last that was made, and the one before it. */
let archive = ''
let during = ''
let token = ''
const PASSWORD = 'violet-harbour-42'
const BYPASS_KEY = 'backup-bypass-key-0123456789abcdefgh'
const PROJECTS = 24
const DELETED_MAX = 10

/** A database of a role that owns it and may do nothing else, as managed databases have. */
async function ownedDatabase(): Promise<{ url: string; database: TestDatabase; close(): Promise<void> }> {
  const database = await emptyDatabase()
  const role = `owner_${process.pid}_${Math.random().toString(36).slice(2, 8)}`
  const { rows } = await database.pool.query('select current_database() as name')
  await database.pool.query(`create role ${role} login`)
  await database.pool.query(`alter database ${rows[0].name} owner to ${role}`)
  await database.pool.query(`alter schema public owner to ${role}`)
  const url = new URL(database.connectionString)
  url.username = role
  return {
    url: url.href,
    database,
    async close() {
      await database.pool.query(`reassign owned by ${role} to current_user`)
      await database.pool.query(`drop owned by ${role}`)
      await database.pool.query(`drop role ${role}`)
      await database.close()
    },
  }
}

function storedFiles(dataDir: string): string[] {
  try {
    const entries = readdirSync(join(dataDir, 'files/objects'), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch {
    return []
  }
}

describe('a backup made while a server publishes and deletes projects', () => {
  before(async () => {
    const server = await startDepot(join(home, 'data'), { RATE_LIMIT_BYPASS_KEY: BYPASS_KEY })
    try {
      token = await moderatorToken(join(home, 'data'))
      const seeding = depot(join(home, 'data'), ['seed', '--projects', String(PROJECTS)])
      const deleting = deleteAsTheyCome(server.url, seeding)
      let isSeeded = false
      const seeded = seeding.finally(() => {
        isSeeded = true
      })
      for (let n = 0, isLast = false; !isLast; n += 1) {
        isLast = isSeeded && n > 0
        during = archive
        archive = join(home, `${n}.tar`)
        const { code, stderr } = await depot(join(home, 'data'), ['backup', archive])
        assert.equal(code, 0, stderr)
      }
      assert.equal((await seeded).code, 0)
      assert.ok((await deleting) > 0, 'something was deleted during the backup')
    } finally {
      await server.stop()
    }
  })

  async function moderatorToken(dataDir: string): Promise<string> {
    const account = ['--username', 'operator', '--email', 'operator@example.org', '--password', PASSWORD]
    assert.equal((await depot(dataDir, ['user', 'create', ...account, '--role', 'admin'])).code, 0)
    return (await depot(dataDir, ['token', 'create', '--user', 'operator', '--scopes', 'all'])).stdout.trim()
  }

  /** Deletes every project that search shows, until the seeding is over; returns how many. */
  async function deleteAsTheyCome(url: string, seeding: Promise<unknown>): Promise<number> {
    let isOver = false
    const over = seeding.finally(() => {
      isOver = true
    })
    const client = apiClient(url, { token, headers: { 'x-ratelimit-key': BYPASS_KEY } })
    let deleted = 0
    while (deleted < DELETED_MAX && (!isOver || deleted === 0)) {
      for (const { id } of await client.get('/v3/projects_random', { params: { query: { count: 1 } } })) {
        const { response } = await client.api.DELETE('/v3/project/{id}', { params: { path: { id } } })
        if (response.status === 204) deleted += 1
      }
    }
    await over
    return deleted
  }

  test('restored, everything in it agrees', async () => {
    const dataDir = folder()
    const restored = await depot(dataDir, ['restore', during])
    assert.equal(restored.code, 0, restored.stderr)
    const verified = await depot(dataDir, ['verify', '--json'])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.equal(JSON.parse(verified.stdout).findings, 0)
  })

  test('a role that is not a superuser restores again after the restore was killed', async () => {
    const bytes = readFileSync(archive)
    const dataDir = folder()
    const target = await ownedDatabase()
    try {
      const env = { DATABASE_URL: target.url }
      const child = spawn(process.execPath, [ENTRY, 'restore', '-'], {
        env: { ...process.env, DATA_DIR: dataDir, ...env },
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      child.stdin.on('error', () => undefined)
      // All but the end: the restore has stored files and waits for more.
      child.stdin.write(bytes.subarray(0, bytes.length - 1024 * 8))
      await untilStored(dataDir, child)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const { rows } = await target.database.pool.query("select to_regclass('public.account') as name")
      if (rows[0].name !== null)
        assert.equal((await target.database.pool.query('select 1 from account')).rowCount, 0, 'nothing is visible')
      const again = await depot(dataDir, ['restore', archive, '--json'], env)
      assert.equal(again.code, 0, again.stderr)
      const { files } = JSON.parse(again.stdout)
      assert.ok(files > 0)
      const verified = await depot(dataDir, ['verify', '--json'], env)
      assert.equal(verified.code, 0, verified.stdout + verified.stderr)
      const second = await depot(dataDir, ['restore', archive], env)
      assert.equal(second.code, 1)
      assert.match(second.stderr, /^This instance is not empty: [^\n]+\n$/)
    } finally {
      await target.close()
    }
  })

  async function untilStored(dataDir: string, child: ChildProcess): Promise<void> {
    while (storedFiles(dataDir).length === 0) {
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], 'the restore continues')
      await sleep(20)
    }
  }

  test('onto a full disk it ends in one sentence', {
    skip: existsSync('/dev/full') ? false : 'no device here is always full',
  }, async () => {
    const { code, stderr } = await depot(join(home, 'data'), ['backup', '/dev/full'])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /No space left for the backup at \/dev\/full; the incomplete file was deleted\. Free space .+\n$/,
    )
  })

  test('an archive is for its owner only, and holds no secret in clear', async () => {
    assert.equal(statSync(archive).mode & 0o077, 0)
    const { head, members, dispose } = await openArchive(createReadStream(archive))
    try {
      assert.ok(!head.tables.some(({ name }) => name === 'instance_secret'))
      let rows = 0
      for await (const member of members()) {
        const bytes = await member.bytes()
        if (!member.name.startsWith('rows/')) continue
        const text = gunzipSync(bytes).toString('latin1')
        assert.ok(!text.includes(PASSWORD) && !text.includes(token), member.name)
        rows += 1
      }
      assert.ok(rows > 10)
    } finally {
      await dispose()
    }
  })
})
