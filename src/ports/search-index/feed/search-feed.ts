// The search of a process: an index, and the loop that keeps it up to date (docs/contributors/search.md, "The feed").
import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { CountQuery, SearchAnswer, SearchIndex, SearchQuery } from '#ports/search-index/search-index.ts'
import { SEARCH_KIND } from './changes.ts'
import { beginRebuild, catchUp, checkLease, closeIndex, openIndex, saveIndex, watchIndex } from './followed-index.ts'
import {
  createFollowedIndex,
  type FollowedIndex,
  type FollowedIndexOptions,
  isCurrent,
  rebuildError,
  searchableIndex,
} from './index-state.ts'

export type SearchFeedOptions = FollowedIndexOptions & {
  /** Interval at which the log of changes is read without an invalidation message. Default: 500 ms. */
  pollMs?: number
}

export type SearchState = {
  state: 'closed' | 'opening' | 'building' | 'ready' | 'rebuilding' | 'failing'
  documents: number
  memoryBytes: number
  /** Whether this process feeds the index. Of the processes that share an index, only one feeds it. */
  isFeeding: boolean
  /** Documents that a running build or rebuild in this process has received so far. */
  built?: number
  /** Time since this process last changed the index. */
  changedAgoMs?: number
  error?: string
}

export type SearchFeed = {
  /** Begins to open the index. The first search does this too. */
  start(): void
  /**
   * Searches wait in turn between callers; `caller` identifies the client, for example by its IP address.
   * @throws ApiError `search_error` or 503 while no index can be searched, 503 if too many searches wait.
   */
  search(query: SearchQuery, caller?: string): Promise<SearchAnswer>
  /** Counts the hits of each filter. @throws ApiError as `search` */
  count(query: CountQuery, caller?: string): Promise<readonly number[]>
  /**
   * Resolves when searches find everything that was committed before the call and all rebuilds requested before it are
   * done. Rejects when such a rebuild fails.
   */
  caughtUp(): Promise<void>
  state(): Promise<SearchState>
  /** Subscribers that make changes searchable immediately. Without invalidation messages this takes half a second. */
  subscribers: readonly InvalidationSubscriber[]
  /** Saves and closes the index. */
  close(): Promise<void>
}

/** Maximum time after the start that a search waits for the first index. */
const GRACE_MS = 2_000
/** Delay during which consecutive changes are collected. */
const GATHER_MS = 20
const POLL_MS = 500
/** Maximum number of concurrent searches. Each takes at most a millisecond, so this bounds the wait of a search. */
const SEARCHES_RUNNING_MAX = 32
const SEARCHES_WAITING_MAX = 10_000

type Feed = {
  readonly options: SearchFeedOptions
  readonly followed: FollowedIndex
  readonly stop: AbortController
  /** Resolved when an index can be searched, or after `GRACE_MS`. */
  readonly grace: PromiseWithResolvers<void>
  loop: Promise<void> | undefined
  /** Error of the last turn of the loop. */
  problem: Error | undefined
  /** Calls of `caughtUp` that wait for a turn that begins after them. */
  waiting: PromiseWithResolvers<void>[]
  /** Resolved to begin the next turn early. */
  wake: PromiseWithResolvers<void>
}

/** Opens nothing before `start` or the first search. */
export function createSearchFeed(options: SearchFeedOptions): SearchFeed {
  const stop = new AbortController()
  const feed: Feed = {
    options,
    followed: createFollowedIndex(options, { signal: stop.signal, onChange: () => onChange(feed) }),
    stop,
    grace: Promise.withResolvers(),
    loop: undefined,
    problem: undefined,
    waiting: [],
    wake: Promise.withResolvers(),
  }
  const handle = (): void => feed.wake.resolve()
  const limiter = createLimiter({ running: SEARCHES_RUNNING_MAX, waiting: SEARCHES_WAITING_MAX })
  return {
    start: () => start(feed),
    search: (query, caller) => limiter.run(async () => (await requireIndex(feed)).search(query), caller),
    count: (query, caller) => limiter.run(async () => (await requireIndex(feed)).count(query), caller),
    caughtUp: () => caughtUp(feed),
    state: () => stateOf(feed),
    subscribers: [
      { kind: 'project', handle },
      { kind: SEARCH_KIND, handle },
    ],
    close: () => close(feed),
  }
}

function start(feed: Feed): void {
  if (feed.loop !== undefined || feed.stop.signal.aborted) return
  setTimeout(feed.grace.resolve, GRACE_MS).unref()
  feed.loop = run(feed)
}

/** @throws ApiError if no index can be searched. */
async function requireIndex(feed: Feed): Promise<SearchIndex> {
  if (searchableIndex(feed.followed) === undefined) {
    start(feed)
    await feed.grace.promise
  }
  const index = searchableIndex(feed.followed)
  if (index !== undefined) return index
  const isShared = feed.options.leases.watch !== undefined
  const kind = isShared ? 'service_unavailable' : 'search_error'
  const headers = { 'retry-after': '5' }
  throw new ApiError(kind, 'The search index is being built; try again in a moment', { headers })
}

function caughtUp(feed: Feed): Promise<void> {
  if (feed.stop.signal.aborted) return Promise.reject(closedError())
  const turn = Promise.withResolvers<void>()
  feed.waiting.push(turn)
  start(feed)
  feed.wake.resolve()
  return turn.promise
}

/** Follows the database until `stop`. A turn that fails is repeated. */
async function run(feed: Feed): Promise<void> {
  while (!feed.stop.signal.aborted) {
    const waiting = feed.waiting.splice(0)
    feed.wake = Promise.withResolvers()
    try {
      await takeTurn(feed.followed)
      noteProblem(feed, undefined)
    } catch (error) {
      noteProblem(feed, error instanceof Error ? error : new Error(String(error)))
    }
    if (feed.problem === undefined && isCurrent(feed.followed)) for (const turn of waiting) turn.resolve()
    else feed.waiting.push(...waiting)
    await pause(feed)
  }
}

async function takeTurn(followed: FollowedIndex): Promise<void> {
  if (followed.state.name === 'closed') await openIndex(followed)
  await checkLease(followed)
  await watchIndex(followed)
  await catchUp(followed)
  beginRebuild(followed)
  await saveIndex(followed)
}

function onChange(feed: Feed): void {
  const { followed } = feed
  if (searchableIndex(followed) !== undefined) feed.grace.resolve()
  const error = rebuildError(followed)
  if (error !== undefined) for (const turn of feed.waiting.splice(0)) turn.reject(error)
  feed.wake.resolve()
}

/** Logs only the first of consecutive failures, and the recovery. */
function noteProblem(feed: Feed, problem: Error | undefined): void {
  const { log } = feed.options
  if (problem !== undefined && feed.problem === undefined)
    log.warn({ err: problem }, 'Could not update the search index from the database; it will be tried again')
  if (problem === undefined && feed.problem !== undefined) log.info('The search index follows the database again')
  feed.problem = problem
}

async function pause({ stop, wake, options }: Feed): Promise<void> {
  if (stop.signal.aborted) return
  await sleep(GATHER_MS)
  const timer = setTimeout(wake.resolve, options.pollMs ?? POLL_MS)
  await wake.promise
  clearTimeout(timer)
}

async function stateOf({ followed, problem, loop }: Feed): Promise<SearchState> {
  const { state } = followed
  const status = state.name === 'closed' ? undefined : await state.index.status()
  const lost = status?.ready === false ? new Error('The search engine does not respond') : undefined
  const trouble = lost ?? problem ?? rebuildError(followed)
  const sizes = {
    documents: status?.documents ?? 0,
    memoryBytes: status?.memoryBytes ?? 0,
    isFeeding: 'feeding' in followed.state,
    ...(followed.state.name === 'rebuilding' ? { built: followed.built } : {}),
    ...(followed.changedAt === undefined ? {} : { changedAgoMs: performance.now() - followed.changedAt }),
  }
  if (trouble !== undefined) return { state: 'failing', ...sizes, error: trouble.message }
  if (loop === undefined) return { state: 'closed', ...sizes }
  if (followed.state.name === 'closed') return { state: 'opening', ...sizes }
  if (searchableIndex(followed) === undefined) return { state: 'building', ...sizes }
  return { state: followed.state.name === 'rebuilding' ? 'rebuilding' : 'ready', ...sizes }
}

async function close(feed: Feed): Promise<void> {
  if (feed.stop.signal.aborted) return
  feed.stop.abort()
  feed.grace.resolve()
  feed.wake.resolve()
  await feed.loop
  await closeIndex(feed.followed)
  for (const turn of feed.waiting.splice(0)) turn.reject(closedError())
}

function closedError(): ApiError {
  return new ApiError('search_error', 'Search was closed')
}
