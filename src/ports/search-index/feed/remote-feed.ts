// The search of a process that another one of this machine feeds and holds: an embedded index exists once.

import { HOUR_MS } from '#lib/time.ts'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { SearchFeed } from './search-feed.ts'

const METHODS = ['search', 'count', 'state'] as const
/** A search that waits for its turn for longer is refused. */
const TIMEOUT_MS = 30_000

/** What the process that holds the index lets the others call. */
export const serveFeed = (feed: SearchFeed): Handlers => offer('search', feed, [...METHODS, 'caughtUp'])

/** The search at the other end of a channel, which starts, feeds and ends it. @throws ApiError 503 when it is gone. */
export function remoteFeed(channel: Channel): SearchFeed {
  const methods = remote<SearchFeed, (typeof METHODS)[number]>('search', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  // A first build may take minutes.
  const { caughtUp } = remote<SearchFeed, 'caughtUp'>('search', channel, ['caughtUp'], { timeoutMs: HOUR_MS })
  return { ...methods, caughtUp, start: () => {}, subscribers: [], close: async () => {} }
}
