// Opens what events of use need: their store, the buffer before it, and the counters that follow.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCounterFollower } from '#features/operations/downloads/counter-follower.ts'
import { openCounterLedger } from '#features/operations/downloads/counter-ledger.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Channel } from '#platform/channel/channel.ts'
import type { AnalyticsStoreConfig } from '#platform/config/config.ts'
import { observeEventBuffer, observeSpool } from '#platform/telemetry/metrics.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { createEventBuffer, type EventBuffer, type EventSink } from '#ports/analytics-store/buffer.ts'
import { openLazily } from '#ports/analytics-store/lazy-store.ts'
import { remoteSink, remoteStore } from '#ports/analytics-store/remote/remote-store.ts'
import { createSpool, type Spool, type SpoolOptions } from '#ports/analytics-store/spool.ts'
import type { Deps } from '#ports/deps.ts'

export type OpenedAnalytics = {
  analytics: AnalyticsStore
  events: EventBuffer
  /** Where the buffer puts batches; those of other processes go in here too. */
  sink: EventSink
  /** Opens the store before anybody asks for it, and takes in what an earlier process left. Never rejects. */
  warmUp(): Promise<void>
  /** Stores every accepted event, lets counters follow for some seconds, and closes the store. */
  close(): Promise<void>
}

type Needs = Pick<Deps, 'config' | 'db' | 'cache' | 'log' | 'metrics'>

/** How long counters and a store that is elsewhere may take when the process stops; what is left is taken in later. */
const CLOSE_MS = 10_000
/** How long the start waits for a store that is elsewhere. */
const VERIFY_MS = 5_000

/** Nothing is opened until the first call needs it. A `command` works beside the server that holds the store. */
export function openAnalytics(deps: Needs, mode: 'server' | 'command'): OpenedAnalytics {
  const { config, log, metrics } = deps
  const analytics = openLazily({
    open: async () => {
      const store = await openStore(config.analytics.store)
      if (mode === 'command') return store
      try {
        await openCounterLedger(deps, store)
        return store
      } catch (error) {
        await store.close()
        throw error
      }
    },
    mayBeHeld: mode === 'command',
  })
  const follower = createCounterFollower({ ...deps, store: analytics })
  const spool = openSpool(config.analytics.store, { next: follower.sink, log })
  const sink = spool?.sink ?? follower.sink
  const events = createEventBuffer({ sink, log })
  observeEventBuffer(metrics, events.stats)
  if (spool !== undefined) observeSpool(metrics, spool.stats)
  return {
    analytics,
    events,
    sink,
    async warmUp() {
      await spool?.start().catch((err: unknown) => log.error({ err }, 'Events that wait on disk cannot be read'))
      await follower.start()
    },
    async close() {
      // Events that are on disk are safe; a store that does not answer keeps no process from stopping.
      const limit = spool === undefined ? undefined : setTimeout(spool.close, CLOSE_MS)
      await events.close()
      clearTimeout(limit)
      await spool?.close()
      await follower.close()
      await analytics.close()
    },
  }
}

/** The store and the counters that another process of this server holds, behind a buffer of this one. */
export function borrowAnalytics(channel: Channel, { log, metrics }: Pick<Needs, 'log' | 'metrics'>): OpenedAnalytics {
  const sink = remoteSink(channel)
  const events = createEventBuffer({ sink, log })
  observeEventBuffer(metrics, events.stats)
  return { analytics: remoteStore(channel), events, sink, warmUp: async () => {}, close: () => events.close() }
}

/**
 * The store itself, without counters and buffer. Loaded here: the embedded store's library takes longer to load than the
 * rest of the server. @throws OperatorError and ApiError as the stores do
 */
export async function openStore(store: AnalyticsStoreConfig): Promise<AnalyticsStore> {
  if (store.kind === 'clickhouse') {
    const { openClickHouseStore } = await import('#ports/analytics-store/clickhouse/store.ts')
    return openClickHouseStore({ url: store.url.reveal() })
  }
  const { openDuckDbStore } = await import('#ports/analytics-store/duckdb/store.ts')
  return openDuckDbStore({ dir: store.folder })
}

function openSpool(store: AnalyticsStoreConfig, given: Pick<SpoolOptions, 'next' | 'log'>): Spool | undefined {
  if (store.kind !== 'clickhouse') return undefined
  return createSpool({ dir: store.spoolFolder, maxBytes: store.spoolBytes, ...given })
}

/**
 * Looks at a store that is elsewhere before anything depends on it.
 * @throws OperatorError in one sentence when its version, database, user or rights are wrong. One that does not answer
 * is no error: events wait on disk for it.
 */
export async function verifyAnalytics({ config, log }: Pick<Needs, 'config' | 'log'>): Promise<void> {
  const { store } = config.analytics
  if (store.kind !== 'clickhouse') return
  const isPatient = new AbortController()
  const tooLate = sleep(VERIFY_MS, undefined, { signal: isPatient.signal }).then(() => {
    throw new Error(`no answer within ${VERIFY_MS} ms`)
  })
  try {
    await Promise.race([openStore(store).then((opened) => opened.close()), tooLate])
  } catch (err) {
    if (err instanceof OperatorError) throw err
    log.warn({ err }, 'ClickHouse does not answer; events wait on disk until it does')
  } finally {
    tooLate.catch(() => undefined)
    isPatient.abort()
  }
}
