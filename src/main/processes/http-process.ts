// Opens an HTTP process. It has its own database connections, cache and local ports, and uses the embedded engines of the
// hub over a channel.
import { once } from 'node:events'
import { connect } from 'node:net'
import { buildApp } from '#main/app.ts'
import { type Booted, openBase, openOrClose, type ProcessOptions, wire } from '#main/boot.ts'
import { type Connections, openDatabase } from '#main/open-database.ts'
import { openCounters, openLocalPorts, type PortNeeds, type SharedPorts } from '#main/open-ports.ts'
import { openSearch } from '#main/open-search.ts'
import type { Changes, Counts } from '#platform/cache/changes.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import { CHANNEL_FORMAT, Channel } from '#platform/channel/channel.ts'
import type { Config } from '#platform/config/config.ts'
import { createRateGrants, type RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import type { App } from '#platform/http/server.ts'
import { observeEventBuffer } from '#platform/telemetry/observe.ts'
import { createEventBuffer } from '#ports/analytics-store/buffer.ts'
import { remoteSink, remoteStore } from '#ports/analytics-store/remote/remote-store.ts'
import { remoteCounters } from '#ports/counters/remote/remote-counters.ts'
import type { Deps } from '#ports/deps.ts'
import { remoteFeed } from '#ports/search-index/feed/remote-feed.ts'
import type { PeerProcesses } from './peer-processes.ts'
import { metricsOf } from './shared-metrics.ts'

const UNLIMITED = { timeoutMs: Number.POSITIVE_INFINITY }
/** Database connections of all HTTP processes together, and limits for one process. */
const POOLS_SIZE = 48
const POOL_SIZE_MIN = 4
const POOL_SIZE_MAX = 16

export type HttpProcess = {
  booted: Booted
  app: App
  rateGrants: RateGrantDirectory
  /** Resolves when the hub asks the process to stop. */
  stopping: Promise<void>
}

export async function connectToHub(socketPath: string): Promise<Channel> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  return new Channel(socket)
}

/**
 * Opens the process when the hub is open, and joins the processes that receive invalidations. The server does not listen
 * yet. Tests replace dependencies of the routes with `adapt`.
 */
export async function joinHub(
  channel: Channel,
  options: Omit<ProcessOptions, 'peers'>,
  adapt: (deps: Deps) => Deps = (deps) => deps,
): Promise<HttpProcess> {
  const connections = (await channel.call('hub.open', [CHANNEL_FORMAT], UNLIMITED)) as Connections
  const booted = await openProcess(channel, connections, options)
  const deps = adapt(booted.deps)
  const rateGrants = createRateGrants(deps)
  const app = await buildApp(deps, rateGrants)
  const stopping = offerToHub(channel, {
    booted,
    app,
    subscribers: [...rateGrants.subscribers, ...deps.tags.subscribers],
  })
  await channel.call('hub.join', [process.pid])
  return { booted, app, rateGrants, stopping }
}

function openProcess(
  channel: Channel,
  connections: Connections,
  options: Omit<ProcessOptions, 'peers'>,
): Promise<Booted> {
  return openOrClose(async (resources) => {
    const { config, test } = options
    const peers = peersOver(channel)
    const base = await openBase({ ...options, peers }, 'server', resources)
    const poolSize = test?.poolSize ?? poolShare(config)
    const database = openDatabase(base, { ...test, connections, poolSize, peers }, resources)
    const needs = { ...base, ...database }
    const local = await openLocalPorts(needs, resources)
    const shared = await openRemotePorts(channel, { ...needs, ...local }, resources)
    return wire({ base, database, ports: { ...local, ...shared }, peers, connections, embedded: undefined }, resources)
  })
}

const poolShare = ({ http }: Config): number =>
  Math.max(POOL_SIZE_MIN, Math.min(POOL_SIZE_MAX, Math.floor(POOLS_SIZE / http.processes)))

/** The embedded engines are those of the hub; external engines are used directly. */
async function openRemotePorts(
  channel: Channel,
  needs: PortNeeds & Pick<Deps, 'taxonomy'>,
  resources: AsyncDisposableStack,
): Promise<SharedPorts> {
  const { config, log, metrics, now } = needs
  const counters =
    config.counters.kind === 'memory'
      ? remoteCounters(channel, { now, processes: config.http.processes })
      : await openCounters(config.counters, needs)
  resources.defer(() => counters.close())
  const sink = remoteSink(channel)
  const events = createEventBuffer({ sink, log })
  observeEventBuffer(metrics, events.stats)
  resources.defer(() => events.close())
  const search = config.search.kind === 'embedded' ? remoteFeed(channel) : openSearch(needs)
  resources.defer(() => search.close())
  return { counters, search, analytics: remoteStore(channel), events, sink, warmUp: async () => {} }
}

function peersOver(channel: Channel): PeerProcesses {
  return {
    // Without the hub, this process ends.
    invalidate: async (changes, counts) =>
      void (await channel.call('hub.invalidate', [changes, counts], UNLIMITED).catch(() => undefined)),
    flushEvents: async () => void (await channel.call('hub.flushEvents', [], UNLIMITED)),
    metrics: async () => String(await channel.call('hub.metrics', [])),
  }
}

type Parts = Pick<HttpProcess, 'booted' | 'app'> & { subscribers: readonly InvalidationSubscriber[] }

/** Offers the functions that the hub calls. The promise resolves when the hub asks the process to stop. */
function offerToHub(channel: Channel, { booted: { deps, events }, app, subscribers }: Parts): Promise<void> {
  const stopping = Promise.withResolvers<void>()
  channel.offer({
    'process.invalidate': (args) => {
      const [changes, counts] = args as [Changes, Counts]
      deps.cache.invalidate(changes)
      deps.cache.recount(counts)
      for (const { kind, handle } of subscribers) {
        const ids = changes.get(kind)
        if (ids !== undefined) handle(ids)
      }
    },
    'process.flushEvents': () => events.flush(),
    'process.metrics': () => metricsOf(deps.metrics.registry),
    'process.drain': () => app.drain(),
    'process.stop': () => stopping.resolve(),
  })
  return stopping.promise
}
