// Runs Depot and the program to compare with as separate processes, and measures them from outside.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startDepot } from '#test/support/processes/running-depot.ts'

const run = promisify(execFile)
const HERE = import.meta.dirname
/** The header that the load generator varies, so that the limiter counts but rejects no request. */
export const ADDRESS_HEADER = 'X-Bench-Address'
export const ADMIN_KEY = 'bench-admin-key-0123456789abcdefghijkl'
/** The key for this program's own requests; the load generator does not send it. */
export const BYPASS_KEY = 'bench-bypass-key-0123456789abcdefghijk'

export type Load = {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  worstMs: number
  failed: number
}

/** The settings of each server that is measured. */
export const BENCH_ENVIRONMENT = {
  CLIENT_ADDRESS_HEADER: ADDRESS_HEADER,
  LOG_LEVEL: 'warn',
  ADMIN_KEY,
  RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
  NODE_ENV: 'production',
}

export async function startBenchDepot(dataDir: string, env: Record<string, string> = {}) {
  return startDepot(dataDir, { ...BENCH_ENVIRONMENT, ...env })
}

export async function startBare(
  mode: 'memory' | 'stream',
  file: string,
  headers: Record<string, string> = {},
): Promise<{ port: number; child: ChildProcess; stop(): void }> {
  const child = spawn(process.execPath, [join(HERE, 'bare-server.ts'), mode, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BARE_HEADERS: JSON.stringify(headers) },
  })
  const port = await new Promise<number>((resolve) =>
    child.stdout.once('data', (chunk) => resolve(Number(String(chunk)))),
  )
  return { port, child, stop: () => void child.kill() }
}

/**
 * Requests per second and latencies of these requests, asked in turn: paths of GETs, or `POST PATH JSON`. Fails unless
 * each response has status 200 and contains `expects`.
 */
export async function load(
  port: number | string,
  requests: string[],
  options: { seconds?: number; connections?: number; headers?: Record<string, string>; expects?: string } = {},
): Promise<Load> {
  const args = [
    join(HERE, 'load.ts'),
    String(port),
    String(options.seconds ?? 4),
    String(options.connections ?? 32),
    ...requests,
  ]
  const { headers: more = {}, expects = '' } = options
  const env = { ...process.env, LOAD_HEADERS: JSON.stringify(more), LOAD_EXPECTS: expects }
  const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024, env })
  const result: Load = JSON.parse(stdout)
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${result.requests} requests failed: ${requests[0]?.slice(0, 200)}`)
  return result
}

/**
 * Returns the processor time of all threads of a process so far, in seconds: the cost of requests, independent of other
 * load.
 */
export function cpuSeconds({ pid }: Pick<ChildProcess, 'pid'>): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const ns = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]))
  return ns.reduce((sum, each) => sum + each, 0) / 1e9
}

/** The last readings by process, of each measured process. */
const readings = new Map<number, Map<number, number>>()

/**
 * Processor time of a process and all that it has started, the embedded database among them. A database connection that
 * ended counts with its last reading, so that the sum never decreases.
 */
export function cpuSecondsOfAll({ pid = 0 }: Pick<ChildProcess, 'pid'>): number {
  const own = readings.get(pid) ?? new Map<number, number>()
  readings.set(pid, own)
  for (const each of [pid, ...descendants(pid)]) {
    const seconds = ifThere(() => cpuSeconds({ pid: each }))
    if (seconds !== undefined) own.set(each, seconds)
  }
  return own.values().reduce((sum, seconds) => sum + seconds, 0)
}

/** The processes that a process has started, and those that these have. */
export function descendants(pid: number): number[] {
  const text = ifThere(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) ?? ''
  const own = text.trim().split(' ').filter(Boolean).map(Number)
  return [...own, ...own.flatMap(descendants)]
}

/** A connection of the database may end between the look at the list of processes and the look at it. */
function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Resident memory of a process in MB. */
export function residentMb({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

/** The counter of database statements, as /metrics has it. */
export async function countQueries(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^depot_database_query_seconds_count (\d+)/m.exec(text)?.[1] ?? 0)
}

/** Returns the headers of this program's own requests. */
export function headers(token?: string): Record<string, string> {
  return {
    'user-agent': 'depot-bench/1.0',
    [ADDRESS_HEADER]: '192.0.2.1',
    'x-ratelimit-key': BYPASS_KEY,
    ...(token === undefined ? {} : { authorization: token }),
  }
}

export async function call(url: string, init: RequestInit & { token?: string } = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...headers(init.token), ...init.headers } })
}

/** Signs in and returns the cookie of the session. */
export async function signIn(url: string, person: { username: string; password: string }): Promise<string> {
  const login = await call(`${url}/_internal/auth/login`, {
    method: 'POST',
    body: JSON.stringify(person),
    headers: { 'content-type': 'application/json' },
  })
  const { session } = (await login.json()) as { session: string }
  return `depot-session=${session}`
}
