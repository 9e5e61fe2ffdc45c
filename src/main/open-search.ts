// Opens what search needs: the index, which is embedded or OpenSearch's, and the feed that keeps it up to date.
import { join } from 'node:path'
import pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import type { Channel } from '#platform/channel/channel.ts'
import { observeSearch } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { acquireIndexFolder } from '#ports/search-index/feed/index-folder.ts'
import type { IndexLeases } from '#ports/search-index/feed/index-lease.ts'
import type { IndexOptions } from '#ports/search-index/feed/index-state.ts'
import { remoteFeed } from '#ports/search-index/feed/remote-feed.ts'
import { createSearchFeed, type SearchFeed, type SearchFeedOptions } from '#ports/search-index/feed/search-feed.ts'
import { sharedLeases } from '#ports/search-index/feed/shared-lease.ts'
import type { SearchIndex } from '#ports/search-index/search-index.ts'

export type SearchNeeds = Pick<Deps, 'config' | 'db' | 'pool' | 'taxonomy' | 'log' | 'metrics'>

/**
 * The search of a process. Nothing is opened before it is started or asked. An embedded index is the one of the process
 * at the other end of `channel`, where there is one.
 */
export function openSearch(needs: SearchNeeds, channel?: Channel): SearchFeed {
  if (channel !== undefined && needs.config.search.kind === 'embedded') return remoteFeed(channel)
  const feed = createSearchFeed(feedOptions(needs))
  observeSearch(needs.metrics, feed.state)
  return feed
}

/**
 * Whether OpenSearch, where it is set, can be used. That it does not answer is only logged: the rest of Depot works
 * without it.
 * @throws OperatorError for a wrong password, a missing right, an old version.
 */
export async function checkSearchEngine({ config, log }: Pick<Deps, 'config' | 'log'>): Promise<void> {
  const reason = await findSearchError(config)
  if (reason !== undefined) log.warn({ reason }, 'OpenSearch does not answer; searches are refused until it does')
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
      ? await acquireIndexFolder(indexRoot(needs), 1)
      : await options.leases.acquire()
  if (lease === undefined) return undefined
  return createSearchFeed({ ...options, leases: { ...options.leases, acquire: async () => lease } })
}

async function findSearchError({ search }: Deps['config']): Promise<string | undefined> {
  if (search.kind === 'embedded') return undefined
  const { checkOpenSearch } = await import('#ports/search-index/opensearch/check-server.ts')
  return checkOpenSearch({ url: search.url.reveal(), prefix: search.prefix })
}

function feedOptions(needs: SearchNeeds): SearchFeedOptions {
  const { config, db, taxonomy, log, metrics } = needs
  const { search } = config
  if (search.kind === 'embedded') {
    return {
      ...{ db, taxonomy, log, leases: folderLeases(needs) },
      openIndex: embeddedIndex,
    }
  }
  const { prefix } = search
  return {
    ...{ db, taxonomy, log },
    // The state is one small row; the next process to feed goes on from it.
    saveEveryMs: 0,
    leases: sharedLeases({ db, connect: () => connectAlone(needs), name: prefix }),
    openIndex: async () => {
      const { openOpenSearchIndex } = await import('#ports/search-index/opensearch/opensearch-search-index.ts')
      return openOpenSearchIndex({
        url: search.url.reveal(),
        prefix,
        onRequest: ({ kind, ok, seconds }) =>
          metrics.searchEngineSeconds.observe({ kind, outcome: ok ? 'success' : 'error' }, seconds),
      })
    },
  }
}

/** Loaded here, so that commands which never search do not load the engine. */
async function embeddedIndex(options: IndexOptions): Promise<SearchIndex> {
  const { openEmbeddedSearchIndex } = await import('#ports/search-index/embedded/embedded-search-index.ts')
  return openEmbeddedSearchIndex(options)
}

function folderLeases(needs: SearchNeeds): IndexLeases {
  return {
    async acquire() {
      const folder = await acquireIndexFolder(indexRoot(needs))
      if (folder === undefined) throw new Error('Too many processes keep a search index in this data folder')
      return folder
    },
  }
}

function indexRoot({ config }: SearchNeeds): string {
  return join(config.dataDir, 'search')
}

/** A connection of its own to the database of the pool: the lock of the feeding process is one of its session. */
async function connectAlone({ pool }: SearchNeeds): Promise<pg.Client> {
  const client = new pg.Client({
    ...pool.options,
    application_name: 'depot-search-feed',
    connectionTimeoutMillis: 5_000,
  })
  await client.connect()
  return client
}
