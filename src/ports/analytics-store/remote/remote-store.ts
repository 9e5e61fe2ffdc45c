// The event store in another process of this machine, because only one process can open an embedded store.
import { randomUUID } from 'node:crypto'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { AnalyticsStore, StoreQuery } from '../analytics-store.ts'
import type { EventSink } from '../buffer.ts'
import type { EventKind } from '../events.ts'

const METHODS = [
  'append',
  'appendLines',
  'countDownloads',
  'settledAt',
  'listBatches',
  'readBatches',
  'forgetProjects',
  'identity',
  'check',
] as const

/** Longer than the store's own limit for a query. */
const TIMEOUT_MS = 120_000

/** Returns the handlers of the process that owns the store. */
export function serveStore(store: AnalyticsStore): Handlers {
  return {
    ...offer('analytics', store, METHODS),
    'analytics.query': ([query, caller], { signal }) =>
      store.query(query as StoreQuery, { signal, ...(caller === undefined ? {} : { caller: caller as string }) }),
    // Sends each part in a separate call, which ends when the reader has processed it.
    'analytics.readEvents': ([kind, id], { signal, peer }) =>
      store.readEvents(kind as EventKind, async (lines) => {
        signal.throwIfAborted()
        await peer.call(partName(String(id)), [lines], UNLIMITED)
      }),
  }
}

/** Returns the store of the other process. The channel outlives it. @throws ApiError 503 if it does not respond. */
export function remoteStore(channel: Channel): AnalyticsStore {
  const limits = { timeoutMs: TIMEOUT_MS }
  return {
    ...remote<AnalyticsStore, (typeof METHODS)[number]>('analytics', channel, METHODS, limits),
    query: (query, { signal, caller } = {}) =>
      channel.call('analytics.query', [query, caller], {
        ...limits,
        ...(signal === undefined ? {} : { signal }),
      }) as ReturnType<AnalyticsStore['query']>,
    async readEvents(kind, onLines) {
      const id = randomUUID()
      const withdraw = channel.offer({ [partName(id)]: ([lines]) => onLines(lines as string[]) })
      await channel.call('analytics.readEvents', [kind, id], UNLIMITED).finally(withdraw)
    },
    close: async () => {},
  }
}

/** A slow reader is not an error. */
const UNLIMITED = { timeoutMs: Number.POSITIVE_INFINITY }
const partName = (id: string): string => `analytics.part.${id}`

const SINK = ['append', 'settled'] as const

/** Returns the handlers that accept batches of the other processes. */
export const serveSink = (sink: EventSink): Handlers => offer('events', sink, SINK)

/** Returns the sink of the other process. The buffer in front of it resends a batch that was not acknowledged. */
export function remoteSink(channel: Channel): EventSink {
  const { append, settled } = remote<EventSink, (typeof SINK)[number]>('events', channel, SINK, {
    timeoutMs: TIMEOUT_MS,
  })
  return { append, settled: () => settled().catch(() => undefined) }
}
