// One Depot out of three servers, a worker, a balancer, a PostgreSQL and an engine behind each port. Between every
// process and the database, and between Depot and every engine, is a line that a test can cut.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import pg from 'pg'
import { DATABASE, ROLE } from '#platform/embedded-postgres/cluster.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { type Balancer, startHaproxy } from '#test/support/engines/haproxy.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { type OwnDatabase, startOwnDatabase } from '#test/support/processes/own-database.ts'
import { makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'
import { startTcpProxy, type TcpProxy } from '#test/support/stand-ins/tcp-proxy.ts'
import { ADDRESS_HEADER, ADMIN_KEY, BYPASS_KEY, type Instance } from '#test/system/faults/instance.ts'

export const ENGINES = ['redis', 's3', 'opensearch', 'clickhouse'] as const
export type EngineName = (typeof ENGINES)[number]
/** The setting that has an engine's address. */
const ADDRESSES = {
  redis: 'REDIS_URL',
  s3: 'S3_ENDPOINT',
  opensearch: 'OPENSEARCH_URL',
  clickhouse: 'CLICKHOUSE_URL',
} as const
const SERVERS = 3
const SOCKET = '.s.PGSQL.5432'

export type Cluster = {
  /** The balancer's address. */
  url: string
  /** The addresses of the servers themselves. */
  own: readonly string[]
  servers: RunningDepot[]
  /** Starts a server that has ended, as before. */
  startServer(n: number): Promise<void>
  /** The last output of the processes that exited on their own. */
  died(): string[]
  engines: Record<EngineName, Engine>
  lines: Record<EngineName, TcpProxy>
  /** Between each server and the database. */
  databaseLines: readonly TcpProxy[]
  /** Stops the database and starts it again; it is unavailable until then. */
  restartDatabase(signal: NodeJS.Signals): Promise<void>
  /** Settings for commands that run in addition to the servers. */
  dataDir: string
  env: Record<string, string>
  /** The same for the writers and checks of `test/system/faults`. */
  instance: Instance
  close(): Promise<void>
}

export type Sent = {
  token?: string
  method?: string
  json?: unknown
  body?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}
export type Answer = { status: number; headers: Headers; body: unknown; bytes: Buffer }

/** Sends a request to a URL of the cluster. A client has one IP address; every user with a token has a separate one. */
export async function send(url: string, path: string, address: string, sent: Sent = {}): Promise<Answer> {
  const headers = new Headers({
    'user-agent': 'depot-tests/1.0',
    'x-ratelimit-key': BYPASS_KEY,
    [ADDRESS_HEADER]: address,
    connection: 'close',
    ...(sent.token === undefined ? {} : { authorization: sent.token }),
    ...(sent.json === undefined ? {} : { 'content-type': 'application/json' }),
  })
  new Headers(sent.headers).forEach((value, name) => {
    headers.set(name, value)
  })
  const body = sent.json === undefined ? sent.body : JSON.stringify(sent.json)
  const response = await fetch(new URL(path, url), {
    method: sent.method ?? 'GET',
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
  }
}

/** @returns what is missing on this machine, as a sentence, where something is. */
export async function startCluster(): Promise<Cluster | string> {
  const undo = new AsyncDisposableStack()
  try {
    const started = await start(undo)
    if (typeof started === 'string') await undo.disposeAsync()
    return started
  } catch (error) {
    await undo.disposeAsync()
    throw error
  }
}

async function start(undo: AsyncDisposableStack): Promise<Cluster | string> {
  const ports = await Promise.all(Array.from({ length: SERVERS }, () => freePort()))
  const haproxy = await startHaproxy(ports, ADDRESS_HEADER)
  if (typeof haproxy === 'string') return haproxy
  undo.defer(() => haproxy.stop())
  const { engines, lines, settings } = await startEngines(undo)
  const missing = Object.values(engines).filter((engine) => typeof engine === 'string')
  if (missing.length > 0) return missing.join('; ')

  const folders = Array.from({ length: SERVERS + 1 }, makeDataDir)
  undo.defer(() => {
    for (const { remove } of folders) remove()
  })
  const { database, databaseLines, query } = await startDatabase(undo)
  const env: Record<string, string> = {
    ...settings,
    BASE_URL: haproxy.url,
    ADMIN_KEY,
    RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
    CLIENT_ADDRESS_HEADER: ADDRESS_HEADER,
    DRAIN_SECONDS: '3',
    LOG_LEVEL: 'warn',
  }
  const through = (line: TcpProxy | undefined) => ({
    DATABASE_URL: `postgresql://${ROLE}@127.0.0.1:${line?.port}/${DATABASE}`,
  })
  const startServer = (n: number): Promise<RunningDepot> =>
    startDepot(folders[n]?.dataDir ?? '', { ...env, ...through(databaseLines[n]), PORT: String(ports[n]) }, [
      '--role',
      'api',
    ])
  // The first makes the schema; the others would wait at its lock.
  const servers = [await startServer(0)]
  undo.defer(async () => void (await Promise.all(servers.map((server) => server.stop('SIGKILL')))))
  servers.push(...(await Promise.all([startServer(1), startServer(2)])))
  const { dataDir } = folders[SERVERS] ?? makeDataDir()
  const workerEnv = { ...env, ...through(databaseLines[SERVERS]) }
  const worker = await startDepot(dataDir, workerEnv, ['--role', 'worker'])
  undo.defer(async () => void (await worker.stop('SIGKILL')))
  const ended: string[] = []
  const cluster = {
    url: haproxy.url,
    own: ports.map((port) => `http://127.0.0.1:${port}`),
    servers,
    startServer: async (n: number) => {
      ended.push(servers[n]?.output() ?? '')
      servers[n] = await startServer(n)
    },
    died: () =>
      [...servers, worker]
        .filter(({ child }) => child.exitCode !== null || child.signalCode !== null)
        .map(({ child, output }) => `ended with ${child.exitCode ?? child.signalCode}: ${output().slice(-3_000)}`),
    engines: engines as Record<EngineName, Engine>,
    lines: lines as Record<EngineName, TcpProxy>,
    databaseLines,
    restartDatabase: async (signal: NodeJS.Signals) => {
      process.kill(database.pid(), signal)
      await database.restart()
    },
    dataDir,
    env: workerEnv,
    close: () => undo.disposeAsync(),
  }
  const log = (): string => [...ended, ...[...servers, worker].map((each) => each.output())].join('')
  return { ...cluster, instance: asInstance(cluster, { haproxy, worker, log, query }) }
}

async function startEngines(undo: AsyncDisposableStack) {
  const engines: Partial<Record<EngineName, Engine | string>> = {}
  const lines: Partial<Record<EngineName, TcpProxy>> = {}
  const settings: Record<string, string> = {}
  await Promise.all(
    ENGINES.map(async (name) => {
      const engine = await startEngine(name)
      engines[name] = engine
      if (typeof engine === 'string') return
      undo.defer(() => engine.remove())
      const line = await startTcpProxy(engine.port)
      undo.defer(() => line.close())
      lines[name] = line
      const address = new URL(engine.settings[ADDRESSES[name]] ?? '')
      address.port = String(line.port)
      Object.assign(settings, engine.settings, { [ADDRESSES[name]]: address.href.replace(/\/$/, '') })
    }),
  )
  return { engines, lines, settings }
}

async function startDatabase(undo: AsyncDisposableStack) {
  const { dataDir, remove } = makeDataDir()
  undo.defer(remove)
  const database: OwnDatabase = await startOwnDatabase(dataDir)
  undo.defer(() => database.stop())
  const databaseLines = await Promise.all(
    Array.from({ length: SERVERS + 1 }, () => startTcpProxy(() => join(database.socketDir(), SOCKET))),
  )
  undo.defer(async () => void (await Promise.all(databaseLines.map((line) => line.close()))))
  const query = async (text: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ host: database.socketDir(), user: ROLE, database: DATABASE })
    await client.connect()
    return client.query(text).finally(() => client.end())
  }
  return { database, databaseLines, query }
}

type Parts = Pick<Cluster, 'servers' | 'dataDir' | 'env' | 'restartDatabase' | 'close' | 'startServer'>

function asInstance(
  cluster: Parts,
  more: { haproxy: Balancer; worker: RunningDepot; log(): string; query: Instance['query'] },
): Instance {
  const { worker, log, query, haproxy } = more
  return {
    kind: 'external',
    dataDir: cluster.dataDir,
    line: undefined,
    env: cluster.env,
    depot: {
      url: haproxy.url,
      child: worker.child,
      output: log,
      stop: async (signal) => {
        const codes = await Promise.all([...cluster.servers, worker].map((each) => each.stop(signal)))
        return codes.find((code) => code !== 0) ?? 0
      },
    },
    log,
    start: async () => {
      for (const n of cluster.servers.keys()) await cluster.startServer(n)
    },
    killDatabase: async () => cluster.restartDatabase('SIGKILL'),
    helpers: async () => [],
    // Clocks and threads of these processes are left alone.
    clockMs: 0,
    setClock: async () => assert.fail('the clock of a cluster is not set'),
    endThreads: async () => 0,
    query,
    close: cluster.close,
  }
}
