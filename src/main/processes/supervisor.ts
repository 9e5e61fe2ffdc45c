// Starts the HTTP processes of a server, replaces those that die, and stops them together.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '#lib/operator-error.ts'
import type { Booted } from '#main/boot.ts'
import { drain } from '#main/stop-listening.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { observeProcesses } from '#platform/telemetry/metrics.ts'
import { type Hub, openHub } from './hub.ts'
import type { PeerProcesses } from './peer-processes.ts'

const ENTRY = join(import.meta.dirname, 'http-child.ts')
/** A process that lived for less died young: the next one waits, twice as long each time. */
const YOUNG_MS = 30_000
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000
/** How long a process may take to end once its requests are over. */
const END_MS = 20_000

/** The threads of glibc's allocator otherwise keep memory for themselves. Other systems do not know it. */
const SMALL = { MALLOC_ARENA_MAX: '2' }
/** Half of what V8 takes for objects that have just been made. */
const SMALLER_HEAP = '--max-semi-space-size=8'

export type HttpProcesses = {
  peers: PeerProcesses
  /** Lends the processes what was opened, and resolves with the address when all of them answer. */
  start(booted: Booted): Promise<string>
  /** Goes on answering for a while, so that balancers turn to others first; `cut` ends it before its time. */
  drain(ms: number, cut: Promise<void>): Promise<void>
  /** Finishes requests under way, ends the processes, and resolves when they are gone. Idempotent. */
  stop(): Promise<void>
}

type Options = {
  count: number
  dataDir: string
  host: string
  port: number
  env: Record<string, string | undefined>
  log: Log
}

/** The processes load their code at once, and wait for `start` before they open anything. */
export async function createHttpProcesses({ count, dataDir, host, port, env, log }: Options): Promise<HttpProcesses> {
  const names = Array.from({ length: count }, (_, n) => `http-${n + 1}`)
  /** The process that has each place; one that leaves gives it up before it ends. */
  const places = new Map<string, Worker>()
  const alive = new Set<Worker>()
  const listening = new Set<string>()
  const youngDeaths = new Map<string, number>()
  const started = Promise.withResolvers<string>()
  started.promise.catch(() => undefined)
  const waits = new AbortController()
  let isStarted = false
  let stopped: Promise<void> | undefined
  const sharesPort = await canSharePort(host)

  const hub: Hub = await openHub({
    dataDir,
    log,
    onListening(name, address) {
      listening.add(name)
      if (listening.size < count) return
      isStarted = true
      started.resolve(address)
    },
    onLeaving(name, pid) {
      if (stopped !== undefined || places.get(name)?.process.pid !== pid) return
      log.info({ leaving: name, pid }, 'A process was asked to stop; another takes its place')
      fork(name)
    },
    onSilent: (pid) => void process.kill(pid, 'SIGKILL'),
  })

  function fork(name: string): void {
    const bornAt = performance.now()
    cluster.setupPrimary({
      exec: ENTRY,
      args: [name, hub.socketPath, sharesPort ? 'port' : 'handle'],
      execArgv: [...process.execArgv, SMALLER_HEAP],
    })
    const worker = cluster.fork({ ...SMALL, ...env, ...compileCache(), PORT: String(port) })
    places.set(name, worker)
    alive.add(worker)
    worker.on('error', (err) => log.warn({ err, failed: name }, 'A process could not be reached'))
    worker.once('exit', (code, signal) => {
      alive.delete(worker)
      if (stopped !== undefined || places.get(name) !== worker) return
      places.delete(name)
      if (!isStarted) {
        started.reject(new OperatorError(`The process ${name} ended while the server started; it has said why`))
        return
      }
      log.error({ ended: name, pid: worker.process.pid, code, signal }, 'A process has died; another takes its place')
      void replace(name, performance.now() - bornAt)
    })
  }

  async function replace(name: string, livedMs: number): Promise<void> {
    const deaths = livedMs < YOUNG_MS ? (youngDeaths.get(name) ?? 0) + 1 : 0
    youngDeaths.set(name, deaths)
    const waitMs = deaths === 0 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (deaths - 1))
    await sleep(waitMs, undefined, { signal: waits.signal }).catch(() => undefined)
    if (stopped === undefined) fork(name)
  }

  async function stop(): Promise<void> {
    waits.abort()
    started.reject(new Error('The server stops'))
    const joined = new Set(hub.members().map(({ pid }) => pid))
    for (const { channel } of hub.members()) void channel.call('process.stop', []).catch(() => undefined)
    await Promise.all(
      [...alive].map(async (worker) => {
        // Those that have not joined hold no request.
        if (!joined.has(worker.process.pid ?? 0)) worker.process.kill('SIGTERM')
        const kill = setTimeout(() => worker.process.kill('SIGKILL'), END_MS)
        if (!worker.isDead()) await once(worker, 'exit')
        clearTimeout(kill)
      }),
    )
    hub.close()
  }

  for (const name of names) fork(name)
  return {
    peers: hub.peers,
    start(booted) {
      observeProcesses(booted.deps.metrics, () => hub.members().filter(({ isListening }) => isListening).length)
      hub.lend(booted)
      return started.promise
    },
    drain: (ms, cut) => {
      const all = () => {
        for (const { channel } of hub.members()) void channel.call('process.drain', []).catch(() => undefined)
      }
      return drain({ drain: all }, ms, cut)
    },
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Code that was compiled, and stripped of its types, by a process before. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/**
 * Whether several processes may listen on one port, between which the kernel spreads connections. Where it does not,
 * this process accepts them and hands them out.
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
