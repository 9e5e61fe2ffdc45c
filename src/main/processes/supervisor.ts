// Starts the HTTP processes of a server, replaces the ones that die, and stops all of them together.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Booted } from '#main/boot.ts'
import { drain, type HttpServer } from '#main/http-server.ts'
import { withPort } from '#platform/config/load-config.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { observeProcesses } from '#platform/telemetry/observe.ts'
import { Hub } from './hub.ts'
import type { PeerProcesses } from './peer-processes.ts'

const ENTRY = fileURLToPath(new URL('./http-child.ts', import.meta.url))
/** After a shorter life, the successor waits, twice as long each time. */
const YOUNG_MS = 30_000
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000
/** Time for a process to end after its last request. */
const END_MS = 20_000

export type SupervisorOptions = {
  count: number
  dataDir: string
  host: string
  port: number
  env: Record<string, string | undefined>
  log: Log
}

export class Supervisor implements HttpServer {
  readonly #options: SupervisorOptions
  readonly #hub: Hub
  readonly #sharesPort: boolean
  /** The current process of each name; a process that leaves gives up its name before it ends. */
  readonly #current = new Map<string, Worker>()
  readonly #alive = new Set<Worker>()
  readonly #youngDeaths = new Map<string, number>()
  readonly #waits = new AbortController()
  readonly #started: Started
  #stopped: Promise<void> | undefined

  private constructor(options: SupervisorOptions, parts: { hub: Hub; sharesPort: boolean; started: Started }) {
    this.#options = options
    this.#hub = parts.hub
    this.#sharesPort = parts.sharesPort
    this.#started = parts.started
  }

  /** Starts the processes. They load their code immediately, and wait for `start` before they open anything. */
  static async open(options: SupervisorOptions): Promise<Supervisor> {
    const started = createStarted(options.count)
    const hub = await Hub.open({
      ...options,
      onListening: started.add,
      onLeaving: (name, pid) => supervisor.#replaceLeaving(name, pid),
      onSilent: (pid) => void process.kill(pid, 'SIGKILL'),
    })
    const supervisor = new Supervisor(options, { hub, sharesPort: await canSharePort(options.host), started })
    for (let n = 1; n <= options.count; n += 1) supervisor.#fork(`http-${n}`)
    return supervisor
  }

  get peers(): PeerProcesses {
    return this.#hub.peers
  }

  /** Offers the ports of the main process to the others, and resolves with the URL when all of them accept requests. */
  async start(booted: Booted): Promise<string> {
    const { deps } = booted
    await updateFileUrls({ ...deps, config: withPort(deps.config, this.#options.port) })
    observeProcesses(deps.metrics, () => this.#hub.members.filter(({ isListening }) => isListening).length)
    this.#hub.expose(booted)
    return this.#started.promise
  }

  drain(ms: number, cut: Promise<void>): Promise<void> {
    return drain({ drain: () => this.#callAll('process.drain') }, ms, cut)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#waits.abort()
    this.#started.fail(new Error('The server stops'))
    const joined = new Set(this.#hub.members.map(({ pid }) => pid))
    this.#callAll('process.stop')
    await Promise.all(
      [...this.#alive].map(async (worker) => {
        // A process that has not joined has no requests.
        if (!joined.has(worker.process.pid ?? 0)) worker.process.kill('SIGTERM')
        const kill = setTimeout(() => worker.process.kill('SIGKILL'), END_MS)
        if (!worker.isDead()) await once(worker, 'exit')
        clearTimeout(kill)
      }),
    )
    this.#hub.close()
  }

  #callAll(name: string): void {
    for (const { channel } of this.#hub.members) void channel.call(name, []).catch(() => undefined)
  }

  #fork(name: string): void {
    const { env, port, log } = this.#options
    const startedAt = performance.now()
    cluster.setupPrimary({
      exec: ENTRY,
      args: [name, this.#hub.socketPath, this.#sharesPort ? 'port' : 'handle'],
    })
    const worker = cluster.fork({ ...env, ...compileCache(), PORT: String(port) })
    this.#current.set(name, worker)
    this.#alive.add(worker)
    worker.on('error', (err) => log.warn({ err, failed: name }, 'Could not communicate with a process'))
    worker.once('exit', (code, signal) => {
      this.#alive.delete(worker)
      if (this.#stopped !== undefined || this.#current.get(name) !== worker) return
      this.#current.delete(name)
      if (!this.#started.isDone) return this.#started.fail(failedStart(name))
      log.error({ ended: name, pid: worker.process.pid, code, signal }, 'A process has died; another takes its place')
      void this.#replace(name, performance.now() - startedAt)
    })
  }

  #replaceLeaving(name: string, pid: number): void {
    if (this.#stopped !== undefined || this.#current.get(name)?.process.pid !== pid) return
    this.#options.log.info({ leaving: name, pid }, 'A process was asked to stop; another takes its place')
    this.#fork(name)
  }

  async #replace(name: string, ageMs: number): Promise<void> {
    const deaths = ageMs < YOUNG_MS ? (this.#youngDeaths.get(name) ?? 0) + 1 : 0
    this.#youngDeaths.set(name, deaths)
    const waitMs = deaths === 0 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (deaths - 1))
    await sleep(waitMs, undefined, { signal: this.#waits.signal }).catch(() => undefined)
    if (this.#stopped === undefined) this.#fork(name)
  }
}

const failedStart = (name: string): OperatorError =>
  new OperatorError(`The process ${name} ended while the server started. Its log states the reason.`)

/** Whether all processes have accepted requests once; resolves with their URL. */
type Started = {
  promise: Promise<string>
  readonly isDone: boolean
  add(name: string, url: string): void
  fail(error: Error): void
}

function createStarted(count: number): Started {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined)
  const listening = new Set<string>()
  return {
    promise,
    get isDone() {
      return listening.size >= count
    },
    add(name, url) {
      listening.add(name)
      if (listening.size >= count) resolve(url)
    },
    fail: reject,
  }
}

/** Lets the processes use the code that this process has compiled and stripped of types. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/**
 * Returns whether several processes can listen on one port, so that the kernel distributes the connections. Otherwise, this
 * process accepts and distributes them.
 */
async function canSharePort(host: string): Promise<boolean> {
  const probe = createServer()
  try {
    probe.listen({ host, port: 0, reusePort: true })
    await once(probe, 'listening')
    return true
  } catch {
    return false
  } finally {
    probe.close()
  }
}
