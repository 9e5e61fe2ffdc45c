// The search index in another process of this machine, because only one process feeds an embedded index.
import { HOUR_MS } from '#lib/time.ts'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { SearchFeed } from './search-feed.ts'

const METHODS = ['search', 'count', 'state'] as const
/** A search that waits longer fails. */
const TIMEOUT_MS = 30_000

/** Returns the handlers of the process that owns the index. */
export const serveFeed = (feed: SearchFeed): Handlers => offer('search', feed, [...METHODS, 'caughtUp'])

/** Returns the search of the other process, which starts, feeds and closes the index. @throws ApiError 503 if it is disconnected. */
export function remoteFeed(channel: Channel): SearchFeed {
  const methods = remote<SearchFeed, (typeof METHODS)[number]>('search', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  // A first build can take minutes.
  const { caughtUp } = remote<SearchFeed, 'caughtUp'>('search', channel, ['caughtUp'], { timeoutMs: HOUR_MS })
  return { ...methods, caughtUp, start: () => {}, subscribers: [], close: async () => {} }
}
