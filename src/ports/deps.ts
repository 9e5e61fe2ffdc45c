// The dependencies of a running Depot. A function declares the parts that it uses: `Pick<Deps, 'db' | 'now'>`.
import type pg from 'pg'
import type { ArchiveInspector } from '#platform/archives/inspect-archive.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DryRun } from '#platform/cache/transaction.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { DB } from '#platform/db/schema.ts'
import type { Images } from '#platform/images/images.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import type { EventBuffer } from '#ports/analytics-store/buffer.ts'
import type { Commands } from '#ports/commands.ts'
import type { Counters } from '#ports/counters/counters.ts'
import type { CountryLookup } from '#ports/country-lookup.ts'
import type { Files } from '#ports/files/files.ts'
import type { Mail } from '#ports/mail/mail.ts'
import type { SearchFeed } from '#ports/search-index/feed/search-feed.ts'
import type { TagDirectory } from '#taxonomy/tag-directory.ts'
import type { LoadedTaxonomy } from '#taxonomy/taxonomy.ts'

export type Deps = LoadedTaxonomy & {
  config: Config
  /** Direct connections to the primary: for jobs, migrations, session locks and separate connections. */
  pool: pg.Pool
  /** The primary, possibly through a pooler: for statements and transactions, without session state. */
  db: Db
  /** A replica or, if none is configured, the primary: for reads that can be slightly outdated. */
  dbRead: Db
  cache: EntityCache
  /** Keeps `taxonomy` up to date with the lists that operators have edited. */
  tags: TagDirectory
  files: Files
  counters: Counters
  /** Opened with its first use. Events are added with `events`; `analytics` runs queries. */
  analytics: AnalyticsStore
  events: EventBuffer
  countryLookup: CountryLookup | undefined
  /** Opened by the server after the start, otherwise with the first search. */
  search: SearchFeed
  mail: Mail
  images: Images
  archives: ArchiveInspector
  commands: Commands
  log: Log
  metrics: Metrics
  /** Returns milliseconds since 1970; the only clock. */
  now: () => number
  /** Present while a command runs without its effects. */
  dryRun?: DryRun<DB> | undefined
}
