import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { readPostmasterFile } from './cluster.ts'
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts'
import { canEnter, parsePasswd, type SystemUser } from './system-user.ts'

const isRoot = process.getuid?.() === 0
const nobody = parsePasswd(readFileSync('/etc/passwd', 'utf8')).find((user) => user.name === 'nobody')
const base = mkdtempSync(join(tmpdir(), 'depot-test-'))
// Root's PostgreSQL user must be able to pass; the tests about folders it cannot enter make their own.
chmodSync(base, 0o711)
const systemDir = join(base, 'system')
const shared = join(base, 'shared')
const children = new Set<ChildProcess>()

after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(base, { recursive: true, force: true })
})

type Line = { level: string; message: string }

function recordingLog(lines: Line[] = []): EmbeddedPostgresOptions['log'] {
  const at = (level: string) => (_fields: object, message: string) => void lines.push({ level, message })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function options(dataDir: string, more: Partial<EmbeddedPostgresOptions> = {}): EmbeddedPostgresOptions {
  return { dataDir, holder: 'server', log: recordingLog(), systemDir, ...more }
}

async function query(connection: pg.ClientConfig, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

async function withDatabase(given: EmbeddedPostgresOptions, use: (database: EmbeddedPostgres) => Promise<void>) {
  const database = await startEmbeddedPostgres(given)
  try {
    await use(database)
  } finally {
    await database.stop()
  }
}

const CHILD = `
  const { module, options } = JSON.parse(process.argv[1])
  const { startEmbeddedPostgres } = await import(module)
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  try {
    const database = await startEmbeddedPostgres({ ...options, log })
    process.once('message', async (order) => {
      if (order === 'stop') await database.stop()
      process.disconnect()
    })
    process.send({ connection: database.connection, owned: database.owned })
  } catch (error) {
    process.send({ problem: error.name + ': ' + error.message })
    process.disconnect()
  }
`
type Report = { connection: pg.ClientConfig; owned: boolean; problem?: undefined } | { problem: string }

/** Another Depot process on `dataDir`. `leave` lets it go without stopping its database. */
async function otherProcess(given: Partial<EmbeddedPostgresOptions> & { dataDir: string }, user?: SystemUser) {
  const argument = {
    module: new URL('./embedded-postgres.ts', import.meta.url).href,
    options: { holder: 'server', systemDir, ...given },
  }
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, JSON.stringify(argument)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    cwd: '/',
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  })
  children.add(child)
  const ended = once(child, 'exit')
  const silent = ended.then(([code]) => [{ problem: `ended with ${code}` }])
  const [report] = (await Promise.race([once(child, 'message'), silent])) as [Report]
  const finish = async (order: 'stop' | 'leave') => {
    child.send(order)
    await ended
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { report, pid: child.pid ?? 0, stop: () => finish('stop'), leave: () => finish('leave'), kill }
}

async function started(given: Partial<EmbeddedPostgresOptions> & { dataDir: string }, user?: SystemUser) {
  const { report, ...rest } = await otherProcess(given, user)
  if (report.problem !== undefined) assert.fail(report.problem)
  return { ...report, ...rest }
}

function clusterPid(dataDir: string): number {
  return readPostmasterFile(join(dataDir, 'postgres'))?.pid ?? assert.fail('no postmaster.pid')
}

test('a start makes the database once and a later one finds its rows, with nothing but data left in between', async () => {
  mkdirSync(join(shared, 'postgres.new-left'), { recursive: true })
  await withDatabase(options(shared), async ({ connection, connectionString, owned }) => {
    assert.equal(owned, true)
    await query(connection, 'create table kept (n integer)')
    await query({ connectionString }, 'insert into kept values (1)')
  })
  assert.deepEqual(readdirSync(shared).sort(), ['depot.lock', 'postgres'])
  await withDatabase(options(shared), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select n from kept'), [1])
  })
})

test('commits are durable, text is UTF-8 and no network address is listened on, unless a setting says otherwise', async () => {
  const names = [
    'fsync',
    'synchronous_commit',
    'listen_addresses',
    'server_encoding',
    'max_connections',
    'data_checksums',
  ]
  const shown = `select ${names.map((name) => `current_setting('${name}')`).join(', ')}`
  await withDatabase(options(shared), async ({ connection }) => {
    assert.deepEqual(await query(connection, shown), ['on', 'on', '', 'UTF8', '100', 'on'])
  })
  const changed = options(shared, { settings: { fsync: 'off', max_connections: '150' } })
  await withDatabase(changed, async ({ connection }) => {
    assert.deepEqual((await query(connection, shown)).toSpliced(1, 3), ['off', '150', 'on'])
  })
})

test('a second server is rejected in one sentence that names the folder and the process', async () => {
  await withDatabase(options(shared), async ({ connection }) => {
    const { report } = await otherProcess({ dataDir: shared })
    const problem = `OperatorError: Depot is already running on this data folder (process ${process.pid}): ${shared}`
    assert.deepEqual(report, { problem })
    await assert.rejects(startEmbeddedPostgres(options(shared)), /already running/)
    assert.deepEqual(await query(connection, 'select 1'), [1])
  })
})

test('a command joins a running server and leaves it running', async () => {
  const server = await started({ dataDir: shared })
  await withDatabase(options(shared, { holder: 'command' }), async ({ connection, owned }) => {
    assert.equal(owned, false)
    assert.deepEqual(await query(connection, 'select n from kept'), [1])
  })
  assert.deepEqual(await query(server.connection, 'select n from kept'), [1])
  await server.stop()
})

test('a second program waits for the command that runs the database, or reports its process', async () => {
  const command = await started({ dataDir: shared, holder: 'command' })
  for (const holder of ['server', 'command'] as const) {
    const impatient = startEmbeddedPostgres(options(shared, { holder, waitMs: 50 }))
    await assert.rejects(impatient, {
      message: new RegExp(`still in use by a Depot command \\(process ${command.pid}\\)`),
    })
  }
  const patient = startEmbeddedPostgres(options(shared))
  await command.stop()
  const database = await patient
  assert.equal(database.owned, true)
  await database.stop()
})

test('concurrent first starts create one database, and one server wins', async () => {
  const dataDir = join(base, 'race')
  const commands = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const command = await started({ dataDir, holder: 'command' })
      const identity = await query(command.connection, 'select system_identifier::text from pg_control_system()')
      await command.stop()
      return identity[0]
    }),
  )
  assert.equal(new Set(commands).size, 1)
  const servers = await Promise.all(Array.from({ length: 3 }, () => otherProcess({ dataDir })))
  const [winner, ...more] = servers.filter(({ report }) => report.problem === undefined)
  assert.equal(more.length, 0)
  await winner?.stop()
})

test('after kill -9 of the owner the next start stops what it left and finds every committed row', async () => {
  const killed = await started({ dataDir: shared })
  await query(killed.connection, 'insert into kept values (2)')
  await killed.kill()
  const lines: Line[] = []
  await withDatabase(options(shared, { log: recordingLog(lines) }), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select n from kept order by n'), [1, 2])
  })
  assert.ok(lines.some(({ level, message }) => level === 'warn' && message.includes('killed Depot process')))
})

test('recovers the data after kill -9 of owner and database, also if another program has the old process ID', async () => {
  const killed = await started({ dataDir: shared })
  await query(killed.connection, 'insert into kept values (3)')
  const postmaster = clusterPid(shared)
  await killed.kill()
  process.kill(postmaster, 'SIGKILL')
  const pidFile = join(shared, 'postgres', 'postmaster.pid')
  const stranger = spawn('sleep', ['60'])
  children.add(stranger)
  writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)))
  await withDatabase(options(shared), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select n from kept order by n'), [1, 2, 3])
  })
  assert.equal(stranger.kill(), true)
})

test('a process that ends without stopping takes its database along', async () => {
  const careless = await started({ dataDir: shared })
  await careless.leave()
  while (existsSync(join(shared, 'postgres', 'postmaster.pid'))) await nextTurn()
  await withDatabase(options(shared), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select count(*)::integer from kept'), [3])
  })
})

test('the owner learns whether PostgreSQL exited unexpectedly or after stop', async () => {
  const lines: Line[] = []
  const database = await startEmbeddedPostgres(options(shared, { log: recordingLog(lines) }))
  process.kill(clusterPid(shared), 'SIGQUIT')
  assert.equal((await database.exited).expected, false)
  assert.ok(lines.some(({ level, message }) => level === 'error' && message.includes('exited unexpectedly')))
  await database.stop()
  const next = await startEmbeddedPostgres(options(shared))
  await Promise.all([next.stop(), next.stop()])
  assert.equal((await next.exited).expected, true)
})

test('a stop that ends the connections that remain logs no warning', async () => {
  const lines: Line[] = []
  const database = await startEmbeddedPostgres(options(shared, { log: recordingLog(lines) }))
  const client = new pg.Client(database.connection)
  await client.connect()
  client.on('error', () => {})
  await database.stop()
  const isEnd = ({ message }: Line) => message.includes('terminating connection due to administrator command')
  while (!lines.some(isEnd)) await nextTurn()
  assert.equal(lines.find(isEnd)?.level, 'debug')
  assert.ok(lines.every(({ level }) => level === 'debug' || level === 'info'))
})

test('a folder with a path too long for a socket and awkward characters serves and is found by others', async () => {
  const dataDir = join(base, 'a "long", awkward folder’s name '.repeat(4), 'data')
  const server = await started({ dataDir })
  assert.ok(Buffer.byteLength(String(server.connection.host)) < 100)
  await withDatabase(options(dataDir, { holder: 'command' }), async ({ connection, connectionString, owned }) => {
    assert.equal(owned, false)
    assert.deepEqual(await query(connection, 'select 1'), [1])
    assert.deepEqual(await query({ connectionString }, 'select 1'), [1])
  })
  await server.kill()
  const next = await started({ dataDir })
  assert.equal(existsSync(String(server.connection.host)), false)
  await next.stop()
  assert.equal(existsSync(String(next.connection.host)), false)
})

test('a folder made by another major version is rejected in one sentence', async () => {
  const dataDir = join(base, 'old')
  const cluster = join(dataDir, 'postgres')
  mkdirSync(cluster, { recursive: true })
  writeFileSync(join(cluster, 'PG_VERSION'), '15\n')
  if (isRoot && nobody !== undefined) chownSync(cluster, nobody.uid, nobody.gid)
  await assert.rejects(startEmbeddedPostgres(options(dataDir)), {
    message: /^PostgreSQL 15 created the database in .*, but this version of Depot includes/,
  })
})

test('reports an unusable folder and an invalid PostgreSQL setting in one sentence with the reason', async () => {
  const file = join(base, 'file')
  writeFileSync(file, '')
  const unusable = startEmbeddedPostgres(options(join(file, 'data')))
  await assert.rejects(unusable, { name: 'OperatorError', message: /^Depot cannot use the data folder .*ENOTDIR/ })
  const refused = startEmbeddedPostgres(options(shared, { settings: { shared_buffers: 'plenty' } }))
  await assert.rejects(refused, { name: 'OperatorError', message: /could not start in .*shared_buffers.*plenty/ })
  await withDatabase(options(shared), async ({ owned }) => assert.equal(owned, true))
})

test('root serves a folder that PostgreSQL’s user cannot enter, and a copy of it does not share the database', {
  skip: isRoot ? false : 'only root runs PostgreSQL as another user',
}, async () => {
  const closed = join(base, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const dataDir = join(closed, 'data')
  await withDatabase(options(dataDir), async ({ connection }) => {
    await query(connection, 'create table far (n integer)')
  })
  await withDatabase(options(dataDir), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select count(*)::integer from far'), [0])
  })
  const copy = join(closed, 'copy')
  cpSync(dataDir, copy, { recursive: true })
  await assert.rejects(startEmbeddedPostgres(options(copy)), { message: /and .*copy is a copy/ })
  rmSync(dataDir, { recursive: true })
  await withDatabase(options(copy), async ({ owned }) => assert.equal(owned, true))
  rmSync(systemDir, { recursive: true })
  await assert.rejects(startEmbeddedPostgres(options(copy)), { message: /is missing: its folder .* was deleted/ })
})

test('an ordinary user serves a folder that no other user can enter, and root serves it later', {
  skip:
    isRoot && nobody !== undefined && canEnter(nobody, import.meta.dirname) ? false : 'wants root and an open checkout',
}, async () => {
  const home = join(base, 'home')
  mkdirSync(home, { mode: 0o711 })
  if (nobody !== undefined) chownSync(home, nobody.uid, nobody.gid)
  const dataDir = join(home, 'data')
  const ordinary = await started({ dataDir }, nobody)
  await query(ordinary.connection, 'create table mine (n integer)')
  await ordinary.stop()
  await withDatabase(options(dataDir), async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select count(*)::integer from mine'), [0])
  })
})
