// A store of events that another process of this machine holds: an embedded store has one process at a time.
import { randomUUID } from 'node:crypto'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { AnalyticsStore, StoreQuery } from '../analytics-store.ts'
import type { EventSink } from '../buffer.ts'
import type { EventKind } from '../events.ts'

const METHODS = [
  'append',
  'countDownloads',
  'settledAt',
  'listBatches',
  'readBatches',
  'forgetProjects',
  'identity',
  'check',
] as const

/** Longer than the store itself takes before it gives a question up. */
const TIMEOUT_MS = 120_000

/** What the process that holds the store lets the others call. */
export function serveStore(store: AnalyticsStore): Handlers {
  return {
    ...offer('analytics', store, METHODS),
    'analytics.query': ([query, caller], { signal }) =>
      store.query(query as StoreQuery, { signal, ...(caller === undefined ? {} : { caller: caller as string }) }),
    // Each piece goes back by a call of its own, which ends when the reader has taken it.
    'analytics.readEvents': ([kind, id], { signal, peer }) =>
      store.readEvents(kind as EventKind, async (lines) => {
        signal.throwIfAborted()
        await peer.call(pieceOf(String(id)), [lines], UNLIMITED)
      }),
  }
}

/** The store at the other end of a channel, which outlives it. @throws ApiError 503 when it does not answer. */
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
      const withdraw = channel.offer({ [pieceOf(id)]: ([lines]) => onLines(lines as string[]) })
      await channel.call('analytics.readEvents', [kind, id], UNLIMITED).finally(withdraw)
    },
    close: async () => {},
  }
}

/** Readers may take their time. */
const UNLIMITED = { timeoutMs: Number.POSITIVE_INFINITY }
const pieceOf = (id: string): string => `analytics.piece.${id}`

const SINK = ['append', 'settled'] as const

/** Where batches of the other processes go in. */
export const serveSink = (sink: EventSink): Handlers => offer('events', sink, SINK)

/** The sink at the other end of a channel; a batch that was not acknowledged is sent again by the buffer before it. */
export function remoteSink(channel: Channel): EventSink {
  const { append, settled } = remote<EventSink, (typeof SINK)[number]>('events', channel, SINK, {
    timeoutMs: TIMEOUT_MS,
  })
  return { append, settled: () => settled().catch(() => undefined) }
}
