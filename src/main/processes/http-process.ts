// One HTTP process of several: it answers requests with what it borrows from the process that started it.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { buildApp } from '#main/app.ts'
import { type Booted, type BootOptions, boot } from '#main/boot.ts'
import { drain, stopListening } from '#main/stop-listening.ts'
import type { Changes, Counts } from '#platform/cache/changes.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import { type Channel, openChannel } from '#platform/channel/channel.ts'
import { type Config, loadConfig } from '#platform/config/config.ts'
import { createRateGrants, type RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import type { App } from '#platform/http/server.ts'
import { createLog, isTextFormat } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'
import type { Borrowed } from './hub.ts'
import type { PeerProcesses } from './peer-processes.ts'
import { metricsOf } from './shared-metrics.ts'

type Options = {
  name: string
  socketPath: string
  /** Whether the process listens by itself, or takes connections that the first process hands out. */
  sharesPort: boolean
  env: Record<string, string | undefined>
}

const UNLIMITED = { timeoutMs: Number.POSITIVE_INFINITY }

/** Resolves when the process has finished its requests and may end. */
export async function runHttpProcess({ name, socketPath, sharesPort, env }: Options): Promise<void> {
  // A terminal sends it to all; the first process decides.
  process.on('SIGINT', () => {})
  const config = forOneOf(loadConfig(env))
  const log = createLog({
    level: config.log.level,
    buffered: true,
    asText: isTextFormat(config.log.format),
    process: name,
  })
  const channel = await connectToHub(socketPath)
  // Nothing that is borrowed works without the lender; the next start is the lender's business.
  const onLost = channel.closed.then(() => process.exit(1))
  const { booted, app, rateGrants, stopping } = await joinHub(channel, { config, log, mode: 'server' })
  await booted.listen(rateGrants.subscribers)
  await rateGrants.refresh()
  giveBackMemory()
  const { host, port, drainMs } = config.http
  const address = await app.listen({ host, port, ...(sharesPort ? { reusePort: true } : {}) })
  process.on('SIGTERM', async () => {
    if (app.isDraining()) return
    await channel.call('hub.leaving', [name, process.pid]).catch(() => undefined)
    await drain(app, drainMs)
    stopping.resolve()
  })
  await channel.call('hub.listening', [name, address])
  await Promise.race([stopping.promise, onLost])
  await stopListening(app, log)
  await booted.close()
  await channel.call('hub.metrics.last', [await metricsOf(booted.deps.metrics.registry)]).catch(() => undefined)
  log.flush()
  process.exit(0)
}

/**
 * Loading and compiling leave garbage behind, which a process would keep for long. V8 also forgets the shapes of objects
 * of which none is alive; `process.nextTick`, which every request calls often, stays slow after that (a tenth of the
 * time of all in a profile), so that one of its objects waits meanwhile.
 */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  process.nextTick(() => {})
  process.nextTick((_: unknown) => {}, undefined)
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

export async function connectToHub(socketPath: string): Promise<Channel> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  return openChannel(socket)
}

type Joined = {
  booted: Booted
  app: App
  rateGrants: RateGrantDirectory
  /** Resolves when the hub asks the process to stop. */
  stopping: PromiseWithResolvers<void>
}

/**
 * Opens everything with what the hub lends, which may take until it has something to lend, and becomes one of those that
 * hear of changes. The server does not listen yet. `adapt` replaces parts of what its routes use.
 */
export async function joinHub(
  channel: Channel,
  options: Omit<BootOptions, 'hub' | 'peers'>,
  adapt: (deps: Deps) => Deps = (deps) => deps,
): Promise<Joined> {
  const { database } = (await channel.call('hub.borrow', [], UNLIMITED)) as Borrowed
  const booted = await boot({
    ...options,
    hub: { channel, database },
    peers: peersOver(channel),
  })
  const deps = adapt(booted.deps)
  const rateGrants = createRateGrants(deps)
  const app = await buildApp(deps, rateGrants)
  const stopping = answerHub(channel, { booted, app, subscribers: rateGrants.subscribers })
  await channel.call('hub.join', [process.pid])
  return { booted, app, rateGrants, stopping }
}

/** What the hub may ask of this process; the promise resolves when it asks it to stop. */
function answerHub(
  channel: Channel,
  { booted, app, subscribers }: { booted: Booted; app: App; subscribers: readonly InvalidationSubscriber[] },
): PromiseWithResolvers<void> {
  const stopping = Promise.withResolvers<void>()
  channel.offer({
    'process.changed': (args) => {
      const [changed, counts] = args as [Changes, Counts]
      booted.deps.cache.invalidate(changed)
      booted.deps.cache.recount(counts)
      for (const { kind, handle } of subscribers) {
        const ids = changed.get(kind)
        if (ids !== undefined) handle(ids)
      }
    },
    'process.flushEvents': () => booted.events.flush(),
    'process.metrics': () => metricsOf(booted.deps.metrics.registry),
    'process.drain': () => app.drain(),
    'process.stop': () => stopping.resolve(),
  })
  return stopping
}

function peersOver(channel: Channel): PeerProcesses {
  return {
    // Without the hub this process ends.
    invalidate: async (changes, counts) =>
      void (await channel.call('hub.invalidate', [changes, counts], UNLIMITED).catch(() => undefined)),
    flushEvents: async () => void (await channel.call('hub.flushEvents', [], UNLIMITED)),
    metrics: async () => String(await channel.call('hub.metrics', [])),
  }
}

/** What is limited for the server as a whole and counted in each process is divided. */
function forOneOf(config: Config): Config {
  const { connectionsPerAddress, processes } = config.http
  if (connectionsPerAddress === undefined) return config
  const share = Math.ceil(connectionsPerAddress / processes)
  return { ...config, http: { ...config.http, connectionsPerAddress: share } }
}
