// The hub of a server with several processes. It owns the embedded database, the search index, the event store and the
// counters, offers them to the HTTP processes, and passes messages between these.
import type { Socket } from 'node:net'
import { requireKnownFormat } from '#lib/format-version.ts'
import type { Booted } from '#main/boot.ts'
import type { Connections } from '#main/open-database.ts'
import type { Changes, Counts } from '#platform/cache/changes.ts'
import { CHANNEL_FORMAT, Channel, type Handlers } from '#platform/channel/channel.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { serveSink, serveStore } from '#ports/analytics-store/remote/remote-store.ts'
import { serveCounters } from '#ports/counters/remote/remote-counters.ts'
import { serveFeed } from '#ports/search-index/feed/remote-feed.ts'
import type { PeerProcesses } from './peer-processes.ts'
import { MetricsSum, metricsOf, type SentMetrics } from './shared-metrics.ts'
import { listenForProcesses, type ProcessSocket } from './socket.ts'

/** A process that has not confirmed an invalidation after this time is killed, because it might use stale data. */
const INVALIDATE_MS = 15_000
const METRICS_MS = 5_000
const FLUSH_MS = 60_000

/** An HTTP process. `isListening` while it accepts new connections. */
type Member = { pid: number; channel: Channel; metrics: SentMetrics; isListening: boolean }

export type HubOptions = {
  dataDir: string
  log: Log
  /** Called when a process accepts requests at this URL. */
  onListening: (name: string, url: string) => void
  /** Called when a process stops because it was asked to, and needs a successor. */
  onLeaving: (name: string, pid: number) => void
  /** Called when a process does not respond to the hub. */
  onSilent: (pid: number) => void
}

export class Hub {
  readonly peers: PeerProcesses = {
    invalidate: (changes, counts) => this.#invalidateExcept(undefined, changes, counts),
    flushEvents: () => this.#flushExcept(undefined),
    metrics: () => this.#metrics(),
  }
  readonly #options: HubOptions
  readonly #members = new Map<Channel, Member>()
  readonly #channels = new Set<Channel>()
  readonly #opened = Promise.withResolvers<Booted>()
  readonly #sum = new MetricsSum()
  #socket: ProcessSocket | undefined

  private constructor(options: HubOptions) {
    this.#options = options
    // The hub is closed before it opens anything if the start fails.
    this.#opened.promise.catch(() => undefined)
  }

  static async open(options: HubOptions): Promise<Hub> {
    const hub = new Hub(options)
    hub.#socket = await listenForProcesses(options.dataDir, (socket) => hub.#accept(socket))
    return hub
  }

  get socketPath(): string {
    return this.#socket?.path ?? ''
  }

  /** Offers the ports of the main process to the HTTP processes. */
  expose(booted: Booted): void {
    this.#opened.resolve(booted)
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  close(): void {
    this.#opened.reject(new Error('The server stops'))
    for (const channel of this.#channels) channel.close()
    this.#socket?.close()
  }

  #accept(socket: Socket): void {
    const channel: Channel = new Channel(socket, {
      'hub.open': async ([format]): Promise<Connections> => {
        requireKnownFormat('The channel of a new HTTP process', Number(format ?? 1), CHANNEL_FORMAT)
        const booted = await this.#opened.promise
        channel.offer(this.#portsOf(booted, channel))
        return booted.connections
      },
      'hub.join': ([pid]) => {
        this.#members.set(channel, { pid: Number(pid), channel, metrics: [], isListening: false })
      },
      'hub.listening': ([name, url]) => {
        this.#update(channel, { isListening: true })
        this.#options.onListening(String(name), String(url))
      },
      'hub.leaving': ([name, pid]) => {
        this.#update(channel, { isListening: false })
        this.#options.onLeaving(String(name), Number(pid))
      },
      'hub.metrics': () => this.#metrics(),
      'hub.metrics.last': ([metrics]) => this.#update(channel, { metrics: metrics as SentMetrics }),
    })
    this.#channels.add(channel)
    void channel.closed.then(() => {
      this.#channels.delete(channel)
      const member = this.#members.get(channel)
      this.#members.delete(channel)
      return member && this.#sum.addEnded(member.metrics)
    })
  }

  #update(channel: Channel, change: Partial<Member>): void {
    const member = this.#members.get(channel)
    if (member !== undefined) Object.assign(member, change)
  }

  #portsOf({ deps, sink, events }: Booted, channel: Channel): Handlers {
    return {
      ...serveCounters(deps.counters),
      ...serveFeed(deps.search),
      ...serveStore(deps.analytics),
      ...serveSink(sink),
      'hub.invalidate': async (args) => {
        const [changes, counts] = args as [Changes, Counts]
        deps.cache.invalidate(changes)
        deps.cache.recount(counts)
        await this.#invalidateExcept(channel, changes, counts)
      },
      'hub.flushEvents': async () => {
        await Promise.all([this.#flushExcept(channel), events.flush()])
      },
    }
  }

  async #invalidateExcept(sender: Channel | undefined, changes: Changes, counts: Counts): Promise<void> {
    const { log, onSilent } = this.#options
    await this.#callOthers(sender, async ({ pid, channel }) => {
      try {
        await channel.call('process.invalidate', [changes, counts], { timeoutMs: INVALIDATE_MS })
      } catch (err) {
        if (!this.#channels.has(channel)) return
        log.error({ err, pid }, 'A process does not confirm invalidations; it will be replaced')
        onSilent(pid)
      }
    })
  }

  #flushExcept(sender: Channel | undefined): Promise<void> {
    const options = { timeoutMs: FLUSH_MS }
    return this.#callOthers(sender, ({ channel }) => channel.call('process.flushEvents', [], options).catch(() => {}))
  }

  async #callOthers(sender: Channel | undefined, call: (member: Member) => Promise<unknown>): Promise<void> {
    await Promise.all(this.members.filter(({ channel }) => channel !== sender).map(call))
  }

  async #metrics(): Promise<string> {
    const { deps } = await this.#opened.promise
    await this.#callOthers(undefined, async (member) => {
      const call = member.channel.call('process.metrics', [], { timeoutMs: METRICS_MS })
      const metrics = await call.catch(() => undefined)
      if (metrics !== undefined) member.metrics = metrics as SentMetrics
    })
    return this.#sum.text([await metricsOf(deps.metrics.registry), ...this.members.map(({ metrics }) => metrics)])
  }
}
