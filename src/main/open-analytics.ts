// Opens the store of analytics events, the buffer in front of it, and the counters that follow it.

import { setTimeout as sleep } from 'node:timers/promises'
import { CounterFollower } from '#features/reading/downloads/counter-follower.ts'
import { openCounterLedger } from '#features/reading/downloads/counter-ledger.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { AnalyticsStoreConfig } from '#platform/config/config.ts'
import { loadFor } from '#platform/config/optional-packages.ts'
import type { Damage } from '#platform/telemetry/damage.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { createEventBuffer, type EventBuffer, type EventSink } from '#ports/analytics-store/buffer.ts'
import { openLazily } from '#ports/analytics-store/lazy-store.ts'
import { observeEventBuffer, observeSpool } from '#ports/analytics-store/observe-events.ts'
import { createSpool, type Spool } from '#ports/analytics-store/spool.ts'
import type { Deps } from '#ports/deps.ts'

export type OpenedAnalytics = {
  analytics: AnalyticsStore
  events: EventBuffer
  /** Opens the store before the first query, and counts what an earlier process has left. Never rejects. */
  warmUp(): Promise<void>
  /** Stores every accepted event, updates the counters for some seconds, and closes the store. */
  close(): Promise<void>
}

type Needs = Pick<Deps, 'config' | 'db' | 'cache' | 'log' | 'metrics'> & { damage: Damage }

/** Time for the counters and a remote store when the process stops. The next start processes the rest. */
const CLOSE_MS = 10_000
/** Time that the start waits for a remote store. */
const VERIFY_MS = 5_000

/** Opens nothing until the first call needs it. A `command` does not fail if a server uses the embedded store. */
export function openAnalytics(deps: Needs, mode: 'server' | 'command'): OpenedAnalytics {
  const { config, log, metrics, damage } = deps
  const open = () => openStore(config.analytics.store)
  const analytics = openLazily({
    onDamage: (error) => damage.note('events', error),
    open: mode === 'command' ? open : () => openAttached(deps, open),
    mayBeInUse: mode === 'command',
  })
  const follower = new CounterFollower({ ...deps, store: analytics })
  const spool = openSpool(deps, follower.sink)
  const events = createEventBuffer({ sink: spool?.sink ?? follower.sink, log })
  observeEventBuffer(metrics, events.stats)
  return {
    analytics,
    events,
    async warmUp() {
      await spool?.start().catch((err: unknown) => log.error({ err }, 'Could not read the events that wait on disk'))
      await follower.start()
    },
    async close() {
      // Events on disk are safe, so a store that does not respond must not keep the process from stopping.
      const limit = spool === undefined ? undefined : setTimeout(spool.close, CLOSE_MS)
      await events.close()
      clearTimeout(limit)
      await spool?.close()
      await follower.close()
      await analytics.close()
    },
  }
}

async function openAttached(deps: Needs, open: () => Promise<AnalyticsStore>): Promise<AnalyticsStore> {
  const store = await open()
  try {
    await openCounterLedger(deps, store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Opens the store without counters and buffer. Loads only its library: that of the embedded store takes longer to load
 * than the rest of the server. @throws OperatorError; ApiError
 */
export async function openStore(store: AnalyticsStoreConfig): Promise<AnalyticsStore> {
  if (store.kind === 'clickhouse') {
    const { openClickHouseStore } = await loadFor(
      'CLICKHOUSE_URL',
      () => import('#ports/analytics-store/clickhouse/store.ts'),
    )
    return openClickHouseStore({ url: store.url.reveal() })
  }
  const { openDuckDbStore } = await import('#ports/analytics-store/duckdb/store.ts')
  return openDuckDbStore({ dir: store.folder })
}

function openSpool({ config, log, metrics }: Needs, next: EventSink): Spool | undefined {
  const { store } = config.analytics
  if (store.kind !== 'clickhouse') return undefined
  const spool = createSpool({ dir: store.spoolFolder, maxBytes: store.spoolBytes, next, log })
  observeSpool(metrics, spool.stats)
  return spool
}

/**
 * Checks a remote store before anything depends on it. A store that does not respond is only logged, because events wait
 * on disk.
 * @throws OperatorError if its version, database, user or permissions are wrong.
 */
export async function verifyAnalytics({ config, log }: Pick<Needs, 'config' | 'log'>): Promise<void> {
  const { store } = config.analytics
  if (store.kind !== 'clickhouse') return
  const timer = new AbortController()
  const tooLate = sleep(VERIFY_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`no response within ${VERIFY_MS} ms`)
  })
  try {
    await Promise.race([openStore(store).then((opened) => opened.close()), tooLate])
  } catch (err) {
    if (err instanceof OperatorError) throw err
    log.warn({ err }, 'ClickHouse does not respond; events wait on disk until it does')
  } finally {
    tooLate.catch(() => undefined)
    timer.abort()
  }
}
