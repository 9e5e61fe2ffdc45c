// Opens what search needs: a folder of its own for the index, the engine, and the feed that keeps it up to date.
import { join } from 'node:path'
import { claimIndexFolder, type IndexFolder } from '#features/search/index-folder.ts'
import { createSearchFeed, type SearchFeed } from '#features/search/search-feed.ts'
import { observeSearch } from '#telemetry/metrics.ts'
import type { Deps } from './deps.ts'

export type SearchNeeds = Pick<Deps, 'config' | 'db' | 'taxonomy' | 'log' | 'metrics'>

/** The search of a process. Nothing is opened before it is started or asked. */
export function openSearch(needs: SearchNeeds): SearchFeed {
  const feed = makeSearchFeed(needs, async () => {
    const folder = await claimIndexFolder(indexRoot(needs))
    if (folder === undefined) throw new Error('Too many processes keep a search index in this data folder')
    return folder
  })
  observeSearch(needs.metrics, feed.state)
  return feed
}

/**
 * The search of a command, on the folder that a server of this data folder would use; undefined while one uses it.
 */
export async function openIdleSearch(needs: SearchNeeds): Promise<SearchFeed | undefined> {
  const folder = await claimIndexFolder(indexRoot(needs), 1)
  return folder === undefined ? undefined : makeSearchFeed(needs, async () => folder)
}

function indexRoot({ config }: SearchNeeds): string {
  return join(config.dataDir, 'search')
}

function makeSearchFeed({ db, taxonomy, log }: SearchNeeds, claimFolder: () => Promise<IndexFolder>): SearchFeed {
  return createSearchFeed({
    db,
    taxonomy,
    log,
    claimFolder,
    openIndex: async (options) => {
      // Loaded here, so that commands which never search do not load the engine.
      const { openEmbeddedSearchIndex } = await import('#search-index/embedded/embedded-search-index.ts')
      return openEmbeddedSearchIndex(options)
    },
  })
}
