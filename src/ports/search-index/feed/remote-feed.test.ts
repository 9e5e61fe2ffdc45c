// Searches through the process that owns the index: runs the conformance suite of the search port.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import { testSearchIndex } from '#test/conformance/search-index/suite.ts'
import { channelPair } from '#test/support/stand-ins/channel-pair.ts'
import { remoteFeed, serveFeed } from './remote-feed.ts'
import type { SearchFeed } from './search-feed.ts'

/** A feed whose index the test fills itself. */
const feedOf = (index: Awaited<ReturnType<typeof openEmbeddedSearchIndex>>): SearchFeed => ({
  start: () => {},
  search: (query) => index.search(query),
  count: (query) => index.count(query),
  caughtUp: async () => {},
  state: async () => ({ state: 'ready', documents: 7, memoryBytes: 1, isFeeding: true }),
  subscribers: [],
  close: () => index.close(),
})

testSearchIndex('asked from another process', async () => {
  const index = await openEmbeddedSearchIndex()
  const { near, close } = await channelPair(serveFeed(feedOf(index)))
  after(close)
  const { search, count } = remoteFeed(near)
  return { ...index, search, count }
})

test('the state is that of the process which holds the index', async (t) => {
  const index = await openEmbeddedSearchIndex()
  t.after(() => index.close())
  const { near, close } = await channelPair(serveFeed(feedOf(index)))
  t.after(close)
  const feed = remoteFeed(near)
  await feed.caughtUp()
  assert.equal((await feed.state()).documents, 7)
  await feed.close()
})
