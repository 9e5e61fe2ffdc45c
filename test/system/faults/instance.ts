// A Depot and its database as processes that can be killed: the database that Depot starts itself, or one of the
// operator's behind a line that can be cut.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { readOwner } from '#platform/db/folder-lock.ts'
import { DATABASE, ROLE } from '#platform/embedded-postgres/cluster.ts'
import { startOwnDatabase } from '#test/support/processes/own-database.ts'
import { makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'
import { startTcpProxy, type TcpProxy } from '#test/support/stand-ins/tcp-proxy.ts'
import { CONTROL_VARIABLE, tell, whenDone } from './disturbance.ts'

export const ADMIN_KEY = 'faults-admin-key-0123456789abcdefghij'
export const BYPASS_KEY = 'faults-bypass-key-0123456789abcdefghi'
export const ADDRESS_HEADER = 'x-faults-address'
const SOCKET = '.s.PGSQL.5432'

/** With the database that Depot starts, or with one of the operator's. */
export type Kind = 'embedded' | 'external'

export type Instance = {
  readonly kind: Kind
  readonly dataDir: string
  /** The line to the operator's database; undefined with the embedded one. */
  readonly line: TcpProxy | undefined
  readonly env: Record<string, string>
  readonly depot: RunningDepot
  /** Returns the log of every Depot of this instance. */
  log(): string
  /** Starts Depot again after it has ended. */
  start(): Promise<void>
  /** Kills the database. With an external database, starts it again after `after` has run. */
  killDatabase(after?: () => Promise<unknown>): Promise<void>
  /** The processes that Depot has started, without the database's. */
  helpers(): Promise<number[]>
  /** Milliseconds by which the clock of Depot is ahead of the database's. */
  readonly clockMs: number
  setClock(ms: number): Promise<void>
  /** Ends every thread that Depot has started; how many there were. */
  endThreads(): Promise<number>
  /** One statement on the database itself, past the line. */
  query(text: string): Promise<pg.QueryResult>
  close(): Promise<void>
}

export async function openInstance(kind: Kind, folder?: string): Promise<Instance> {
  const made = makeDataDir()
  const control = join(made.dataDir, 'control.json')
  const disturbance = { serial: 0, clockMs: 0, endThreads: 0 }
  const dataDir = folder ?? join(made.dataDir, 'depot')
  const own = kind === 'external' ? await startOwnDatabase(made.dataDir) : undefined
  const line = own === undefined ? undefined : await startTcpProxy(() => join(own.socketDir(), SOCKET))
  const env: Record<string, string> = {
    ADMIN_KEY,
    RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
    CLIENT_ADDRESS_HEADER: ADDRESS_HEADER,
    LOG_LEVEL: 'warn',
    // The port changes with each start, but the URLs of images must not.
    BASE_URL: 'http://depot.test',
    [CONTROL_VARIABLE]: control,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'disturb.ts')).href}`,
    ...(line === undefined ? {} : { DATABASE_URL: `postgresql://${ROLE}@127.0.0.1:${line.port}/${DATABASE}` }),
  }
  const socketDir = (): string => own?.socketDir() ?? readOwner(dataDir)?.socketDir ?? ''
  const connected = async <T>(act: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ host: socketDir(), user: ROLE, database: DATABASE })
    await client.connect()
    return act(client).finally(() => client.end())
  }
  const query = (text: string): Promise<pg.QueryResult> => connected((client) => client.query(text))
  /** Every connection is served by a child of the process that answers for all of them. */
  const postmasterPid = (): Promise<number> =>
    connected(async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const pid = parentOf(Number(rows[0]?.pid)) ?? 0
      if (pid <= 1) throw new Error('The process of the database cannot be found')
      return pid
    })
  let depot = await startDepot(dataDir, env)
  const before: RunningDepot[] = []
  const disturb = async (change: { clockMs?: number; endThreads?: number }): Promise<number> => {
    Object.assign(disturbance, { endThreads: 0, ...change })
    disturbance.serial += 1
    tell(control, disturbance)
    return whenDone(control, depot.child.pid ?? 0, disturbance.serial)
  }
  return {
    kind,
    get clockMs() {
      return disturbance.clockMs
    },
    setClock: async (clockMs) => void (await disturb({ clockMs })),
    endThreads: () => disturb({ endThreads: 100 }),
    dataDir,
    log: () => [...before, depot].map((each) => each.output()).join(''),
    line,
    env,
    query,
    get depot() {
      return depot
    },
    start: async () => {
      before.push(depot)
      depot = await startDepot(dataDir, env)
    },
    killDatabase: async (after) => {
      process.kill(await postmasterPid(), 'SIGKILL')
      await after?.()
      await own?.restart()
    },
    helpers: async () => {
      const postmaster = await postmasterPid()
      return childrenOf(depot.child.pid ?? 0).filter((pid) => pid !== postmaster)
    },
    close: async () => {
      await depot.stop('SIGKILL')
      await line?.close()
      await own?.stop()
      if (kind !== 'external') await endOrphan(postmasterPid)
      made.remove()
    },
  }
}

/** A killed Depot leaves its database running; the next start would end it, and here there is none. */
async function endOrphan(postmasterPid: () => Promise<number>): Promise<void> {
  const pid = await postmasterPid().catch(() => 0)
  if (pid > 1) process.kill(pid, 'SIGQUIT')
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
  } catch {
    return undefined
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === parent)
}
