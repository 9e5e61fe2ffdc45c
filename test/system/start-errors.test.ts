// A failed start reports every error in one sentence before it starts anything; Depot fixes problems that it can fix.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { tryLockFolder } from '#platform/db/folder-lock.ts'
import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { depot, type Finished, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'
import { isPrivate } from '../../bin/compile-cache.mjs'

const ENTRY = join(import.meta.dirname, '../../bin/depot.mjs')
const BIN = join(import.meta.dirname, '../../bin/depot')

function folder(): string {
  const { dataDir, remove } = makeDataDir()
  after(remove)
  return dataDir
}

const oneSentence = (text: string) => assert.equal(text.trim().split('\n').length, 1, text)

test('a port that is taken, or a file that is not there, is reported before a database is made', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const address = blocker.address()
  const PORT = String(typeof address === 'object' ? address?.port : 0)
  try {
    for (const [env, sentence] of [
      [{ PORT }, /another program uses this port/],
      [{ GEOIP_DATABASE: '/nowhere' }, /Cannot read the GeoIP database \/nowhere/],
      [{ SCANNER_COMMAND: '/nowhere/scan --fast' }, /\/nowhere\/scan \(SCANNER_COMMAND\) does not exist/],
    ] as const) {
      const dataDir = folder()
      const { code, stderr } = await depot(dataDir, ['serve'], env)
      assert.equal(code, 1)
      assert.match(stderr, sentence)
      oneSentence(stderr)
      assert.deepEqual(readdirSync(dataDir), [])
    }
  } finally {
    blocker.close()
  }
})

test('a data folder that is a file, or lies below one, is rejected in a sentence that names the setting', async () => {
  for (const [dataDir, reason] of [
    [import.meta.filename, /\(DATA_DIR\): it is a file, not a folder/],
    [join(import.meta.filename, 'below'), /\(DATA_DIR\): a part of its path is a file/],
  ] as const) {
    const { code, stderr } = await depot(dataDir, ['serve'])
    assert.equal(code, 1)
    assert.match(stderr, reason)
    oneSentence(stderr)
  }
})

test('.env in the working folder is read, and variables of the environment win', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, '.env'), '# a comment\nPORT=eighty\nREGISTRATION="maybe"\nDATA_DIR=./a folder\n')
  const answer = await new Promise<string>((resolve) => {
    const env = { PATH: process.env['PATH'], REGISTRATION: 'open' }
    execFile(process.execPath, [ENTRY, 'serve'], { cwd, env }, (_error, _stdout, stderr) => resolve(stderr))
  })
  assert.match(answer, /PORT must be .*, not "eighty"/)
  assert.doesNotMatch(answer, /REGISTRATION/)
  mkdirSync(join(cwd, 'other', '.env'), { recursive: true })
  const unreadable = await new Promise<string>((resolve) => {
    execFile(process.execPath, [ENTRY, 'jobs'], { cwd: join(cwd, 'other') }, (_e, _out, stderr) => resolve(stderr))
  })
  assert.match(unreadable, /^Depot cannot read the file .*other\/\.env: EISDIR/)
})

test('what another user leaves in a shared folder is neither read as settings nor run, and nothing is put into one', async () => {
  const shared = folder()
  chmodSync(shared, 0o1777)
  const planted = join(shared, 'planted')
  writeFileSync(
    join(shared, '.graphile-workerrc.cjs'),
    `require('node:fs').writeFileSync(${JSON.stringify(planted)}, '')`,
  )
  const dataDir = folder()
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, TMPDIR: shared }
  const run = (...args: string[]) =>
    new Promise<Finished>((resolve) => {
      execFile(process.execPath, [ENTRY, ...args], { cwd: shared, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, stdout, stderr }),
      )
    })
  const migrated = await run('migrate')
  assert.equal(migrated.code, 0, migrated.stderr)
  assert.deepEqual(readdirSync(shared), ['.graphile-workerrc.cjs'])
  writeFileSync(join(shared, '.env'), 'SCANNER_COMMAND=/bin/true\n')
  chmodSync(join(shared, '.env'), 0o666)
  const { code, stderr } = await run('user', 'list')
  assert.equal(code, 1)
  assert.match(stderr, /^Depot does not read .*\.env, because another user owns it or can write it/)
  oneSentence(stderr)
})

test('compiled code is only in a folder that this user owns and nobody else can write', () => {
  const own = join(folder(), 'own')
  assert.ok(isPrivate(own), 'created')
  chmodSync(own, 0o770)
  assert.ok(!isPrivate(own), 'the group can write it')
  chmodSync(own, 0o700)
  symlinkSync(own, `${own}-link`)
  assert.ok(!isPrivate(`${own}-link`), 'a link')
  assert.ok(!isPrivate(import.meta.filename), 'a file')
  if (process.getuid?.() !== 0) return
  chownSync(own, 65534, 65534)
  assert.ok(!isPrivate(own), 'of another user')
})

test('--env-file names the settings file, before or after the command, instead of .env; help needs none', async () => {
  const cwd = folder()
  const file = join(cwd, 'depot.env')
  writeFileSync(join(cwd, '.env'), 'PORT=eighty\nBASE_URL=ftp://x\n')
  writeFileSync(file, 'PORT=ninety\n')
  const run = (...args: string[]) =>
    new Promise<Finished>((resolve) => {
      execFile(BIN, args, { cwd }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, stdout, stderr }))
    })
  for (const args of [
    ['--env-file', file, 'settings', 'list'],
    ['settings', 'list', `--env-file=${file}`],
    ['settings', '--env-file', 'depot.env', 'list'],
  ]) {
    const { code, stderr } = await run(...args)
    assert.equal(code, 1)
    assert.match(stderr, /PORT must be .*, not "ninety"/)
    assert.doesNotMatch(stderr, /BASE_URL/, 'one file only')
  }
  writeFileSync(file, 'PORT=ninety\nREGISTRATON=closed\nnonsense\n')
  const { stderr } = await run('serve', '--env-file', file)
  assert.match(
    stderr,
    /^Invalid settings in .*depot\.env:\n {2}line 2: REGISTRATON .* REGISTRATION\n {2}line 3: must be/,
  )
  assert.match((await run('jobs', '--env-file', '/nowhere')).stderr, /^Depot cannot read the file \/nowhere: ENOENT/)
  assert.match((await run('jobs', '--env-file', file, '--env-file', file)).stderr, /can be used only once/)
  assert.equal((await run('help', 'jobs', '--env-file', '/nowhere')).code, 0)
})

test('settings list names the settings file as the source of its values, but not of those that the environment sets', async () => {
  const cwd = folder()
  const file = join(cwd, '.env')
  writeFileSync(file, 'PORT=90\nREGISTRATION=open\nSITE_NAME=Lanterns\n')
  const run = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const env = { PATH: process.env['PATH'], REGISTRATION: 'closed' }
      execFile(BIN, ['settings', 'list', '--set', ...args], { cwd, env }, (_error, stdout) => resolve(stdout))
    })
  const { settings, settings_file: path } = JSON.parse(await run('--json'))
  assert.equal(path, file)
  const sources = settings.map(({ name, source }: { name: string; source: string }) => `${name}: ${source}`)
  assert.deepEqual(sources.sort(), ['PORT: file', 'REGISTRATION: environment', 'SITE_NAME: file'])
  const lines = (await run()).split('\n')
  assert.ok(
    lines.some((line) => /^PORT +90 +\S+\.env$/.test(line) && line.endsWith(file)),
    lines.join('\n'),
  )
})

test('on a database of the operator, a second server on the same data folder is rejected with the reason', async () => {
  const database = await testDatabase()
  const dataDir = join(folder(), 'with spaces')
  const env = { DATABASE_URL: database.connectionString }
  const server = await startDepot(dataDir, env)
  try {
    const second = await depot(dataDir, ['serve'], env)
    assert.equal(second.code, 1)
    assert.match(second.stderr, /^Another Depot serves requests with the data folder .*with spaces.*CLICKHOUSE_URL/)
    oneSentence(second.stderr)
    const command = await depot(dataDir, ['analytics', 'set-aside'], env)
    assert.deepEqual([command.code, /^Another Depot serves/.test(command.stderr)], [1, true], command.stderr)
    const worker = await startDepot(dataDir, env, ['--role', 'worker']).catch((error: Error) => error)
    assert.ok(!(worker instanceof Error), 'one that only does jobs may join')
    await worker.stop()
  } finally {
    await server.stop()
    await database.close()
  }
})

test('a database role without a permission is reported in one line', async () => {
  const database = await testDatabase()
  const role = `weak_${process.pid}`
  await database.pool.query(`create role ${role} login`)
  const url = new URL(database.connectionString)
  url.username = role
  try {
    const { code, stderr } = await depot(folder(), ['serve'], { DATABASE_URL: url.href })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^The role of DATABASE_URL lacks a permission \(permission denied for .*\)\. Make the role the owner/,
    )
    oneSentence(stderr)
  } finally {
    await database.pool.query(`drop role ${role}`)
    await database.close()
  }
})

test('a damaged lock file is emptied and works again, also between two processes', () => {
  const dataDir = folder()
  writeFileSync(join(dataDir, 'depot.lock'), 'This is not a lock file.'.repeat(100))
  const lock = tryLockFolder(dataDir)
  assert.ok(lock !== undefined)
  assert.equal(tryLockFolder(dataDir), undefined, 'it is held')
  lock.release()
  tryLockFolder(dataDir)?.release()
})

test('a damaged analytics file says what to do, and the command does it without losing the file', async () => {
  const dataDir = folder()
  const dir = join(dataDir, 'analytics')
  mkdirSync(dir)
  writeFileSync(join(dir, 'events.duckdb'), 'damaged '.repeat(2000))
  await assert.rejects(
    openDuckDbStore({ dir }),
    /Could not open the analytics database .*events\.duckdb: .*`depot analytics set-aside`/,
  )
  assert.equal((await depot(dataDir, ['migrate'])).code, 0)
  const { code, stdout, stderr } = await depot(dataDir, ['analytics', 'set-aside'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Renamed to .*events\.duckdb\.set-aside-/)
  assert.equal(existsSync(join(dir, 'events.duckdb')), false)
  assert.equal(readdirSync(dir).filter((name) => name.startsWith('events.duckdb.set-aside-')).length, 1)
  await (await openDuckDbStore({ dir })).close()
})
