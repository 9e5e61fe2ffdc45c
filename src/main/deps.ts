// What a running Depot holds. Functions ask for the parts they use: `Pick<Deps, 'db' | 'now'>`.
import type pg from 'pg'
import type { AnalyticsStore } from '#analytics-store/analytics-store.ts'
import type { EventBuffer } from '#analytics-store/buffer.ts'
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Config } from '#config/config.ts'
import type { Counters } from '#counters/counters.ts'
import type { Db } from '#db/db.ts'
import type { CountryLookup } from '#features/analytics/origin.ts'
import type { SearchFeed } from '#features/search/search-feed.ts'
import type { ArchiveInspector } from '#features/versions/files/inspect-archive.ts'
import type { Files } from '#files/files.ts'
import type { Images } from '#images/images.ts'
import type { Mail } from '#mail/mail.ts'
import type { LoadedTaxonomy } from '#taxonomy/taxonomy.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'

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
