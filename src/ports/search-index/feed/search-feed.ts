// The search of a process: an index, and the loop that keeps it up to date (docs/search.md, "The feed").
import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { CountQuery, SearchAnswer, SearchIndex, SearchQuery } from '#ports/search-index/search-index.ts'
import { SEARCH_KIND } from './changes.ts'
import {
  beginRebuild,
  catchUp,
  checkPlace,
  closeIndex,
  createFollowedIndex,
  type FollowedIndex,
  type FollowedIndexOptions,
  openIndex,
  saveIndex,
  wantsRebuild,
  watchIndex,
} from './followed-index.ts'

export type SearchFeedOptions = FollowedIndexOptions & {
  /** How often the log of changes is read when no invalidation message says so. Default 500. */
  pollMs?: number
}

export type SearchState = {
  state: 'closed' | 'opening' | 'building' | 'ready' | 'rebuilding' | 'failing'
  documents: number
  memoryBytes: number
  /** Whether this process feeds the index; of the processes that share one, only one does. */
  isFeeding: boolean
  error?: string
}

export type SearchFeed = {
  /** Opens the index, which the first search does too. Nothing is waited for. */
  start(): void
  /**
   * `caller` is who asks, as the key of an address: searches wait fairly between callers.
   * @throws ApiError `search_error` while there is no index to answer from, 503 when too many wait.
   */
  search(query: SearchQuery, caller?: string): Promise<SearchAnswer>
  /** The hits of each filter. @throws ApiError as `search` */
  count(query: CountQuery, caller?: string): Promise<readonly number[]>
  /**
   * Resolves when all that was committed before the call can be found, and rebuilds requested before it are done;
   * rejects when such a rebuild fails.
   */
  caughtUp(): Promise<void>
  state(): Promise<SearchState>
  /** What makes changes searchable at once; without invalidation messages they are within half a second. */
  subscribers: readonly InvalidationSubscriber[]
  /** Saves the index and ends it. */
  close(): Promise<void>
}

/** Searches that come before the first index stands wait for it this long after the start. */
const GRACE_MS = 2_000
/** Changes that come one after the other are read together. */
const GATHER_MS = 20
const POLL_MS = 500
/** Handed to the index together; each takes it a millisecond at most, so that this is what a search waits at most. */
const SEARCHES_AT_ONCE = 32
const SEARCHES_WAITING_MAX = 10_000

const BEING_BUILT = 'The search index is being built; try again in a moment'
const RETRY_AFTER = { 'retry-after': '5' }

type Feed = {
  readonly options: SearchFeedOptions
  readonly followed: FollowedIndex
  running: Promise<void> | undefined
  /** Why the loop does not get through. */
  problem: Error | undefined
  /** Those who wait for a turn of the loop that begins after they came. */
  waiting: PromiseWithResolvers<void>[]
  readonly grace: PromiseWithResolvers<void>
  isWoken: boolean
  wakeSleeper: () => void
}

/** Nothing is opened before `start` or the first search. */
export function createSearchFeed(options: SearchFeedOptions): SearchFeed {
  const feed: Feed = {
    options,
    followed: createFollowedIndex(options, () => onMoved(feed)),
    running: undefined,
    problem: undefined,
    waiting: [],
    grace: Promise.withResolvers(),
    isWoken: false,
    wakeSleeper: () => {},
  }
  const handle = (): void => wake(feed)
  const limiter = createLimiter({ running: SEARCHES_AT_ONCE, waiting: SEARCHES_WAITING_MAX })
  return {
    start: () => start(feed),
    search: (query, caller) => limiter.run(async () => (await answering(feed)).search(query), caller),
    count: (query, caller) => limiter.run(async () => (await answering(feed)).count(query), caller),
    caughtUp: () => {
      if (feed.followed.isStopped) return Promise.reject(wasClosed())
      const turn = Promise.withResolvers<void>()
      feed.waiting.push(turn)
      start(feed)
      wake(feed)
      return turn.promise
    },
    state: () => stateOf(feed),
    subscribers: [
      { kind: 'project', handle },
      { kind: SEARCH_KIND, handle },
    ],
    close: () => close(feed),
  }
}

function start(feed: Feed): void {
  if (feed.running !== undefined || feed.followed.isStopped) return
  setTimeout(feed.grace.resolve, GRACE_MS).unref()
  feed.running = run(feed)
}

/** The index that answers. @throws ApiError while there is none */
async function answering(feed: Feed): Promise<SearchIndex> {
  const { followed } = feed
  if (!followed.canAnswer) {
    start(feed)
    await feed.grace.promise
  }
  if (followed.opened === undefined || !followed.canAnswer) {
    const isShared = followed.options.leases.watch !== undefined
    throw new ApiError(isShared ? 'service_unavailable' : 'search_error', BEING_BUILT, { headers: RETRY_AFTER })
  }
  return followed.opened.index
}

/** Until the end: reads the log when woken and now and then, begins rebuilds, saves. What fails is tried again. */
async function run(feed: Feed): Promise<void> {
  const { followed } = feed
  while (!followed.isStopped) {
    const turns = feed.waiting.splice(0)
    feed.isWoken = false
    try {
      if (followed.opened === undefined) await openIndex(followed)
      await checkPlace(followed)
      await watchIndex(followed)
      await catchUp(followed)
      beginRebuild(followed)
      await saveIndex(followed)
      noteError(feed, undefined)
    } catch (error) {
      noteError(feed, error instanceof Error ? error : new Error(String(error)))
    }
    if (feed.problem === undefined && followed.canAnswer && !followed.isBehind && !wantsRebuild(followed)) {
      for (const turn of turns) turn.resolve()
    } else feed.waiting.push(...turns)
    await pause(feed)
  }
}

function onMoved(feed: Feed): void {
  const { followed } = feed
  if (followed.canAnswer) feed.grace.resolve()
  if (followed.rebuildError !== undefined) {
    for (const turn of feed.waiting.splice(0)) turn.reject(followed.rebuildError)
  }
  wake(feed)
}

/** Said once when it begins and once when it is over. */
function noteError(feed: Feed, problem: Error | undefined): void {
  const { log } = feed.options
  if (problem !== undefined && feed.problem === undefined) {
    log.warn({ err: problem }, 'Search does not follow the database; it is tried again')
  }
  if (problem === undefined && feed.problem !== undefined) log.info('Search follows the database again')
  feed.problem = problem
}

function wake(feed: Feed): void {
  feed.isWoken = true
  feed.wakeSleeper()
}

async function pause(feed: Feed): Promise<void> {
  if (feed.followed.isStopped) return
  await sleep(GATHER_MS)
  if (feed.isWoken || feed.followed.isStopped) return
  const { promise, resolve } = Promise.withResolvers<void>()
  feed.wakeSleeper = resolve
  const timer = setTimeout(resolve, feed.options.pollMs ?? POLL_MS)
  await promise
  clearTimeout(timer)
  feed.wakeSleeper = () => {}
}

async function stateOf({ followed, problem, running }: Feed): Promise<SearchState> {
  const status = await followed.opened?.index.status()
  const isLost = status !== undefined && !status.ready
  const trouble = isLost ? new Error('The search engine does not answer') : (problem ?? followed.rebuildError)
  const sizes = {
    documents: status?.documents ?? 0,
    memoryBytes: status?.memoryBytes ?? 0,
    isFeeding: followed.opened?.lease !== undefined,
  }
  if (trouble !== undefined) return { state: 'failing', ...sizes, error: trouble.message }
  if (running === undefined) return { state: 'closed', ...sizes }
  if (followed.opened === undefined) return { state: 'opening', ...sizes }
  if (!followed.canAnswer) return { state: 'building', ...sizes }
  return { state: followed.rebuilding === undefined ? 'ready' : 'rebuilding', ...sizes }
}

async function close(feed: Feed): Promise<void> {
  const { followed } = feed
  if (followed.isStopped) return
  followed.isStopped = true
  feed.grace.resolve()
  wake(feed)
  await feed.running
  await closeIndex(followed)
  for (const turn of feed.waiting.splice(0)) turn.reject(wasClosed())
}

function wasClosed(): ApiError {
  return new ApiError('search_error', 'Search was closed')
}
