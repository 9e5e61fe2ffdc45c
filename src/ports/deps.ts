// What a running Depot holds. Functions ask for the parts they use: `Pick<Deps, 'db' | 'now'>`.
import type pg from 'pg'
import type { ArchiveInspector } from '#platform/archives/inspect-archive.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { Images } from '#platform/images/images.ts'
import type { LoadedTaxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import type { EventBuffer } from '#ports/analytics-store/buffer.ts'
import type { Counters } from '#ports/counters/counters.ts'
import type { CountryLookup } from '#ports/country-lookup.ts'
import type { Files } from '#ports/files/files.ts'
import type { Mail } from '#ports/mail/mail.ts'
import type { SearchFeed } from '#ports/search-index/feed/search-feed.ts'

export type Deps = LoadedTaxonomy & {
  config: Config
  /** Sessions of the primary itself: for jobs, migrations, locks of a session, connections of one's own. */
  pool: pg.Pool
  /** The primary, through a pooler where the operator has one: statements and transactions, nothing that a session keeps. */
  db: Db
  /** A replica where the operator has one, else the primary: for reads that may be a moment behind. */
  dbRead: Db
  cache: EntityCache
  files: Files
  counters: Counters
  /** Opened when it is first used. Events go in by the buffer, questions come out here. */
  analytics: AnalyticsStore
  events: EventBuffer
  countryLookup: CountryLookup | undefined
  /** Opened by the server once it answers, else when it is first asked. */
  search: SearchFeed
  mail: Mail
  images: Images
  archives: ArchiveInspector
  log: Log
  metrics: Metrics
  /** Milliseconds since 1970. Nothing else asks the time. */
  now: () => number
}
