// Opens what events of use need: their store, the buffer before it, and the counters that follow.
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import type { CountryResponse } from 'maxmind'
import type { AnalyticsStore } from '#analytics-store/analytics-store.ts'
import { createEventBuffer, type EventBuffer } from '#analytics-store/buffer.ts'
import { openLazily } from '#analytics-store/lazy-store.ts'
import type { CountryLookup } from '#features/analytics/origin.ts'
import { createCounterFollower } from '#features/downloads/counter-follower.ts'
import { attachStore } from '#features/downloads/counter-ledger.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { observeEventBuffer } from '#telemetry/metrics.ts'
import type { Deps } from './deps.ts'

export type OpenedAnalytics = {
  analytics: AnalyticsStore
  events: EventBuffer
  /** Opens the store before anybody asks for it, and lets counters take in what an earlier process left. */
  warmUp(): Promise<void>
  /** Stores every accepted event, lets the counters follow, and closes the store. */
  close(): Promise<void>
}

type Needs = Pick<Deps, 'config' | 'db' | 'cache' | 'log' | 'metrics'>

/** Nothing is opened until the first call needs it. A `command` works beside the server that holds the store. */
export function openAnalytics(deps: Needs, holder: 'server' | 'command'): OpenedAnalytics {
  const analytics = openLazily({
    open: async () => {
      // Loaded here: the embedded store's library takes longer to load than the rest of the server.
      const { openDuckDbStore } = await import('#analytics-store/duckdb.ts')
      const store = await openDuckDbStore({ dir: deps.config.analytics.folder })
      if (holder === 'command') return store
      try {
        await attachStore(deps, store)
        return store
      } catch (error) {
        await store.close()
        throw error
      }
    },
    mayBeHeld: holder === 'command',
  })
  const follower = createCounterFollower({ ...deps, store: analytics })
  const events = createEventBuffer({ store: analytics, log: deps.log, onFlushed: follower.follow })
  observeEventBuffer(deps.metrics, events.stats)
  return {
    analytics,
    events,
    warmUp: follower.catchUp,
    async close() {
      await events.close()
      await follower.close()
      await analytics.close()
    },
  }
}

/**
 * Countries by address from a file in MaxMind format, held in memory; undefined without a file.
 * @throws Error with a plain sentence when the file cannot be read.
 */
export async function openCountryLookup(path: string | undefined): Promise<CountryLookup | undefined> {
  if (path === undefined) return undefined
  const { Reader } = await import('maxmind')
  try {
    const reader = new Reader<CountryResponse>(await readFile(path))
    const isIpv4Only = reader.metadata.ipVersion === 4
    // Of a file that knows IPv4 only, the library reads the first bits of an IPv6 address as if they were IPv4.
    return (address) => (isIpv4Only && isIPv6(address) ? undefined : reader.get(address)?.country?.iso_code)
  } catch (cause) {
    throw new OperatorError(`The address database ${path} (GEOIP_DATABASE) cannot be read`, { cause })
  }
}
