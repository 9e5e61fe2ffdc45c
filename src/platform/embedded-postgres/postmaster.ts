// Starts PostgreSQL as a child process, waits until it is ready, forwards its log, and stops it.
import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '#lib/operator-error.ts'
import { ENVIRONMENT, readPostmasterFile, reasonIn } from './cluster.ts'
import { type DatabaseLocation, PORT } from './location.ts'
import { spawnAs } from './system-user.ts'

/** Methods of a pino logger that the embedded database uses. */
export type EmbeddedLog = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Reason for the exit of PostgreSQL. `expected`: `stop` caused the exit. */
export type PostgresExit = { expected: boolean; description: string }

export type Postmaster = { pid: number; exited: Promise<PostgresExit>; stop(): Promise<void> }

/**
 * Settings on the command line of each start, so that they depend on the release and not on the age of a data folder.
 * They suit a small machine. Operators who need more can run their own server and set DATABASE_URL.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  max_wal_size: '512MB',
  // The pages of such a small database are in memory or on an SSD, so random access is cheap.
  random_page_cost: '1.1',
  jit: 'off',
  // Parallel plans need shared memory, but containers have 64 MB of /dev/shm. Depot's queries are too short to benefit.
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
  // Only log events of the server: the client receives the error of a failed statement and decides whether to log it.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '',
  log_destination: 'stderr',
  logging_collector: 'off',
}

/** Crash recovery replays at most a few times `max_wal_size`, so a start that exceeds this limit is stuck. */
const START_TIMEOUT_MS = 600_000
/** Maximum wait for the remaining processes of a killed server to exit. */
const REMAINS_TIMEOUT_MS = 10_000
const POLL_MS = 5
const START_LINES_MAX = 50
const STOP_STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 5_000],
] as const

export type PostmasterOptions = {
  binDir: string
  place: DatabaseLocation
  socketDir: string
  log: EmbeddedLog
  settings: Readonly<Record<string, string>>
}

/**
 * Starts PostgreSQL on an existing cluster and resolves when it accepts connections.
 * @throws OperatorError with the reason from PostgreSQL if it exits before.
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + REMAINS_TIMEOUT_MS
  for (;;) {
    const { child, postmaster, startLines } = spawnPostmaster(options)
    if (await isReady(child, postmaster, options.place.clusterDir)) return postmaster
    const { description } = await postmaster.exited
    const said = startLines.join('\n')
    // The other processes of a killed postmaster exit automatically after a moment.
    if (said.includes('is still in use') && performance.now() < deadline) {
      await delay(20 * POLL_MS)
      continue
    }
    const reason = reasonIn(said) ?? description
    throw new OperatorError(`PostgreSQL could not start in ${options.place.clusterDir}: ${reason}`)
  }
}

function spawnPostmaster({ binDir, place, socketDir, log, settings }: PostmasterOptions) {
  // The value is a list: quotes protect commas and spaces in the name of the folder.
  const sockets = `"${socketDir.replaceAll('"', '""')}"`
  const all = { ...SETTINGS, unix_socket_directories: sockets, port: String(PORT), ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(join(binDir, 'postgres'), ['-D', place.clusterDir, ...flags], {
    cwd: '/',
    env: ENVIRONMENT,
    // In a separate session, Ctrl-C in the terminal only reaches Depot, which stops the database last.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...spawnAs(place.user),
  })
  let isStopping = false
  const startLines = forwardLog(child, log, () => isStopping)
  // PostgreSQL stops whenever this process exits. If this process is killed, the next start stops PostgreSQL.
  const endWithUs = () => child.kill('SIGINT')
  process.once('exit', endWithUs)
  const exited = new Promise<PostgresExit>((resolve) => {
    const settle = (description: string) => {
      process.off('exit', endWithUs)
      resolve({ expected: isStopping, description })
    }
    child.once('error', (error) => settle(`the program cannot run (${error.message})`))
    child.once('exit', (code, signal) => settle(signal === null ? `exit code ${code}` : signal))
  })
  // The child must not keep a finished process alive, except while `stop` runs.
  child.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  const stop = async () => {
    isStopping = true
    await stopChild(child, exited, log)
  }
  return { child, startLines, postmaster: { pid: child.pid ?? 0, exited, stop } satisfies Postmaster }
}

/**
 * Forwards PostgreSQL's log. Returns a growing list of its first lines, for the error message of a failed start. A stop
 * ends the connections that remain; their messages are not warnings.
 */
function forwardLog(child: ChildProcess, log: EmbeddedLog, isStopping: () => boolean): string[] {
  const startLines: string[] = []
  if (child.stderr === null) return startLines
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (startLines.length < START_LINES_MAX) startLines.push(line)
    const [, level = 'LOG', text = line] = /^([A-Z]+): +(.*)$/s.exec(line) ?? []
    log[level === 'FATAL' && isStopping() ? 'debug' : logLevel(level, text)](
      { postgres: { pid: child.pid } },
      `PostgreSQL: ${text}`,
    )
  })
  return startLines
}

/** Maps a log line to a log level. PostgreSQL uses LOG for routine events and problems; FATAL only ends one connection. */
function logLevel(level: string, text: string): keyof EmbeddedLog {
  if (level === 'PANIC') return 'error'
  // Depot itself ends the connection of a failed restore.
  if (text === 'terminating connection due to administrator command') return 'debug'
  if (level === 'FATAL' || level === 'WARNING') return 'warn'
  return /could not|terminated by signal|not properly shut down/.test(text) ? 'warn' : 'debug'
}

/** Resolves with true when postmaster.pid reports that PostgreSQL is ready, or with false if PostgreSQL exits before. */
async function isReady(child: ChildProcess, { exited, stop }: Postmaster, clusterDir: string): Promise<boolean> {
  let isGone = false
  const watch = exited.then(() => {
    isGone = true
  })
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!isGone) {
    await delay(POLL_MS)
    const file = isGone ? undefined : readPostmasterFile(clusterDir)
    if (file?.pid === child.pid && file?.ready) return true
    if (performance.now() > deadline) await stop()
  }
  await watch
  return false
}

async function stopChild(child: ChildProcess, exited: Promise<PostgresExit>, log: EmbeddedLog): Promise<void> {
  for (const [signal, graceMs] of STOP_STEPS) {
    if (signal !== 'SIGINT') log.warn({ postgres: { pid: child.pid } }, `PostgreSQL does not stop; sending ${signal}`)
    child.kill(signal)
    if (await settlesWithin(exited, graceMs)) return
  }
  log.error({ postgres: { pid: child.pid } }, 'PostgreSQL does not stop')
}

async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController()
  const timeout = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false)
  const result = await Promise.race([promise.then(() => true), timeout])
  timer.abort()
  return result
}
