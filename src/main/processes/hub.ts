// The middle of a server of several processes. It holds what exists once (the embedded database, the search index, the
// store of events, counters in memory), lends it to the HTTP processes, and passes on what they tell each other.
import type { Socket } from 'node:net'
import type { Booted } from '#main/boot.ts'
import type { Changes, Counts } from '#platform/cache/changes.ts'
import { type Channel, type Handlers, openChannel } from '#platform/channel/channel.ts'
import type { Connection } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { serveSink, serveStore } from '#ports/analytics-store/remote/remote-store.ts'
import { serveCounters } from '#ports/counters/remote/remote-counters.ts'
import { serveFeed } from '#ports/search-index/feed/remote-feed.ts'
import type { PeerProcesses } from './peer-processes.ts'
import { createMetricsSum, metricsOf, type SentMetrics } from './shared-metrics.ts'
import { listenForProcesses } from './socket.ts'

/** A process that does not say for so long that it has dropped what changed is ended: it may answer with it. */
const SILENT_MS = 15_000
const METRICS_MS = 5_000
const FLUSH_MS = 60_000

/** What a process needs to open the rest; without a database it uses the one that its environment names. */
export type Borrowed = { database: Connection | undefined }

/** An HTTP process, from before it answers its first request; `isListening` while new connections may come to it. */
type Member = { pid: number; channel: Channel; metrics: SentMetrics; isListening: boolean }

export type Hub = {
  socketPath: string
  peers: PeerProcesses
  /** Lends what was opened to the processes, those that have asked for it already included. */
  lend(booted: Booted): void
  members(): Member[]
  close(): void
}

export type HubOptions = {
  dataDir: string
  log: Log
  /** A process answers requests at this address. */
  onListening: (name: string, address: string) => void
  /** A process stops by itself, and wants to be replaced meanwhile. */
  onLeaving: (name: string, pid: number) => void
  /** A process does not answer the others. */
  onSilent: (pid: number) => void
}

export async function openHub(options: HubOptions): Promise<Hub> {
  const { dataDir, log, onListening, onLeaving, onSilent } = options
  const members = new Set<Member>()
  const channels = new Set<Channel>()
  const lent = Promise.withResolvers<Booted>()
  // A start that fails lends nothing.
  lent.promise.catch(() => undefined)
  const sum = createMetricsSum()

  async function tellOthers([changes, counts]: [Changes, Counts], except: Channel | undefined): Promise<void> {
    await Promise.all(
      [...members].map(async ({ pid, channel }) => {
        if (channel === except) return
        try {
          await channel.call('process.changed', [changes, counts], { timeoutMs: SILENT_MS })
        } catch (err) {
          if (!channels.has(channel)) return
          log.error({ err, pid }, 'A process does not take in changes; it is replaced')
          onSilent(pid)
        }
      }),
    )
  }

  async function flushOthers(except: Channel | undefined): Promise<void> {
    await Promise.all(
      [...members]
        .filter(({ channel }) => channel !== except)
        .map(({ channel }) => channel.call('process.flushEvents', [], { timeoutMs: FLUSH_MS }).catch(() => undefined)),
    )
  }

  async function metrics(): Promise<string> {
    const { deps } = await lent.promise
    await Promise.all(
      [...members].map(async (member) => {
        const now = await member.channel.call('process.metrics', [], { timeoutMs: METRICS_MS }).catch(() => undefined)
        if (now !== undefined) member.metrics = now as SentMetrics
      }),
    )
    return sum.text([await metricsOf(deps.metrics.registry), ...[...members].map((member) => member.metrics)])
  }

  function setListening(channel: Channel, isListening: boolean): void {
    for (const member of members) if (member.channel === channel) member.isListening = isListening
  }

  function welcome(socket: Socket): void {
    const channel = openChannel(socket, {
      'hub.borrow': async (): Promise<Borrowed> => {
        const booted = await lent.promise
        channel.offer(lentBy(booted, channel))
        return { database: booted.embeddedConnection }
      },
      'hub.metrics.last': ([last]) => {
        for (const member of members) if (member.channel === channel) member.metrics = last as SentMetrics
      },
      'hub.join': ([pid]) => {
        const member: Member = { pid: Number(pid), channel, metrics: [], isListening: false }
        members.add(member)
        void channel.closed.then(() => {
          members.delete(member)
          return sum.keep(member.metrics)
        })
      },
      'hub.listening': ([name, address]) => {
        setListening(channel, true)
        onListening(String(name), String(address))
      },
      'hub.leaving': ([name, pid]) => {
        setListening(channel, false)
        onLeaving(String(name), Number(pid))
      },
      'hub.metrics': metrics,
    })
    channels.add(channel)
    void channel.closed.then(() => channels.delete(channel))
  }

  function lentBy(booted: Booted, channel: Channel): Handlers {
    const { deps, sink } = booted
    return {
      ...serveCounters(deps.counters),
      ...serveFeed(deps.search),
      ...serveStore(deps.analytics),
      ...serveSink(sink),
      'hub.invalidate': async (args) => {
        const [changes, counts] = args as [Changes, Counts]
        deps.cache.invalidate(changes)
        deps.cache.recount(counts)
        await tellOthers([changes, counts], channel)
      },
      'hub.flushEvents': async () => {
        await Promise.all([flushOthers(channel), booted.events.flush()])
      },
    }
  }

  const meeting = await listenForProcesses(dataDir, welcome)
  return {
    socketPath: meeting.path,
    peers: {
      invalidate: (changes, counts) => tellOthers([changes, counts], undefined),
      flushEvents: () => flushOthers(undefined),
      metrics,
    },
    lend: lent.resolve,
    members: () => [...members],
    close() {
      lent.reject(new Error('The server stops'))
      for (const channel of channels) channel.close()
      meeting.close()
    },
  }
}
