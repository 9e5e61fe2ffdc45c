// PgBouncer in transaction mode before the tests' database, where Debian's package pgbouncer is installed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '#test/support/processes/free-port.ts'

const PROGRAMS = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']
const NOBODY = 65_534
/** It starts within a second; a busy machine takes longer. */
const ANSWERS_WITHIN_MS = 60_000

/** Returns the reason why a test with a pooler cannot run here; false if it can. */
export function noPooler(): string | false {
  return PROGRAMS.some((path) => existsSync(path)) ? false : 'pgbouncer is not installed'
}

type Pooler = {
  url: string
  /** Waits until a query succeeds. */
  ready(): Promise<void>
  stop(): Promise<void>
}

/** Starts a pooler for this database. The pooler ignores the session settings that clients request. */
export async function startPooler(connectionString: string): Promise<Pooler> {
  const program = PROGRAMS.find((path) => existsSync(path)) ?? 'pgbouncer'
  const folder = mkdtempSync(join(tmpdir(), 'depot-pooler-'))
  chmodSync(folder, 0o755)
  const { host, port: serverPort, user, password, database } = new pg.Client({ connectionString })
  const port = await freePort()
  const secret = typeof password === 'string' && password !== '' ? ` password=${password}` : ''
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
depot = host=${host} port=${serverPort} dbname=${database} user=${user}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
  )
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(userInfo().uid === 0 ? identity(host) : {}),
  })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += String(chunk)
  })
  const url = `postgres://${user}@127.0.0.1:${port}/depot`
  const ready = () => whenAnswering(url, child, () => output)
  await ready()
  return {
    url,
    ready,
    stop: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** It refuses to run as root; a folder of sockets may be closed to everyone but the user of the database. */
function identity(host: string): { uid: number; gid: number } {
  if (!host.startsWith('/')) return { uid: NOBODY, gid: NOBODY }
  const { uid, gid } = statSync(host)
  return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
}

async function whenAnswering(connectionString: string, child: ChildProcess, output: () => string): Promise<void> {
  const endsAt = Date.now() + ANSWERS_WITHIN_MS
  for (;;) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return
    } catch (cause) {
      if (child.exitCode !== null || Date.now() > endsAt) throw new Error(`No pooler: ${output()}`, { cause })
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      await client.end().catch(() => {})
    }
  }
}
