// Opens the search index, embedded or in OpenSearch, and the feed that keeps it up to date.

import { join } from 'node:path'
import pg from 'pg'
import { Histogram } from 'prom-client'
import { OperatorError } from '#lib/operator-error.ts'
import { loadFor } from '#platform/config/optional-packages.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { acquireIndexFolder } from '#ports/search-index/feed/index-folder.ts'
import type { IndexLeases } from '#ports/search-index/feed/index-lease.ts'
import type { IndexOptions } from '#ports/search-index/feed/index-state.ts'
import { createSearchFeed, type SearchFeed, type SearchFeedOptions } from '#ports/search-index/feed/search-feed.ts'
import { sharedLeases } from '#ports/search-index/feed/shared-lease.ts'
import { observeSearch } from '#ports/search-index/observe-search.ts'
import type { SearchIndex } from '#ports/search-index/search-index.ts'

const engineSeconds = defineMetrics(
  (registers) =>
    new Histogram({
      name: 'depot_search_engine_seconds',
      help: 'Requests to OpenSearch, by kind (search, write, manage, status) and outcome',
      labelNames: ['kind', 'outcome'] as const,
      buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
)

export type SearchNeeds = Pick<Deps, 'config' | 'db' | 'pool' | 'taxonomy' | 'log' | 'metrics'>

/** Opens the search of a process. The index is opened when it is started or first used. */
export function openSearch(needs: SearchNeeds): SearchFeed {
  const feed = createSearchFeed(feedOptions(needs))
  observeSearch(needs.metrics, feed.state)
  return feed
}

/**
 * Checks whether OpenSearch can be used, if it is configured. If it does not respond, that is only logged, because the rest
 * of Depot works without it.
 * @throws OperatorError if the password, a permission or the version is wrong.
 */
export async function checkSearchEngine({ config, log }: Pick<Deps, 'config' | 'log'>): Promise<void> {
  const reason = await findSearchError(config)
  if (reason !== undefined) log.warn({ reason }, 'OpenSearch does not respond; searches fail until it does')
}

/**
 * Opens the search index for a command: the data folder's index or the shared one. Returns undefined if a server uses it.
 * @throws OperatorError if OpenSearch does not respond.
 */
export async function openIdleSearch(needs: SearchNeeds): Promise<SearchFeed | undefined> {
  const reason = await findSearchError(needs.config)
  if (reason !== undefined) throw new OperatorError(`OpenSearch does not respond: ${reason}`)
  const options = feedOptions(needs)
  const lease =
    needs.config.search.kind === 'embedded'
      ? await acquireIndexFolder(indexRoot(needs.config), 1)
      : await options.leases.acquire()
  if (lease === undefined) return undefined
  return createSearchFeed({ ...options, leases: { ...options.leases, acquire: async () => lease } })
}

async function findSearchError({ search }: Deps['config']): Promise<string | undefined> {
  if (search.kind === 'embedded') return undefined
  const { checkOpenSearch } = await loadFor(
    'OPENSEARCH_URL',
    () => import('#ports/search-index/opensearch/check-server.ts'),
  )
  return checkOpenSearch({ url: search.url.reveal(), prefix: search.prefix })
}

function feedOptions(needs: SearchNeeds): SearchFeedOptions {
  const { config, db, taxonomy, log, metrics } = needs
  const { search } = config
  if (search.kind === 'embedded') return { db, taxonomy, log, leases: folderLeases(config), openIndex: openEmbedded }
  const { prefix } = search
  return {
    db,
    taxonomy,
    log,
    // The state is one small row, and the next process that feeds the index continues from it.
    saveEveryMs: 0,
    leases: sharedLeases({ db, connect: () => connectForLock(needs), name: prefix }),
    openIndex: async () => {
      const { openOpenSearchIndex } = await loadFor(
        'OPENSEARCH_URL',
        () => import('#ports/search-index/opensearch/opensearch-search-index.ts'),
      )
      return openOpenSearchIndex({
        url: search.url.reveal(),
        prefix,
        onRequest: ({ kind, ok, seconds }) =>
          engineSeconds(metrics).observe({ kind, outcome: ok ? 'success' : 'error' }, seconds),
      })
    },
  }
}

/** Imports the engine here, because most commands do not need it. */
async function openEmbedded(options: IndexOptions): Promise<SearchIndex> {
  const { openEmbeddedSearchIndex } = await import('#ports/search-index/embedded/embedded-search-index.ts')
  return openEmbeddedSearchIndex(options)
}

function folderLeases(config: Deps['config']): IndexLeases {
  return {
    async acquire() {
      const folder = await acquireIndexFolder(indexRoot(config))
      if (folder === undefined) throw new Error('Too many processes have a search index in this data folder')
      return folder
    },
  }
}

const indexRoot = ({ dataDir }: Deps['config']): string => join(dataDir, 'search')

/** Opens a separate connection, because the lock of the feeding process belongs to a database session. */
async function connectForLock({ pool }: SearchNeeds): Promise<pg.Client> {
  const client = new pg.Client({
    ...pool.options,
    application_name: 'depot-search-feed',
    connectionTimeoutMillis: 5_000,
  })
  // The connection can be lost before the caller listens for errors.
  client.on('error', () => {})
  await client.connect()
  return client
}
