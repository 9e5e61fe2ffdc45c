// The search index of a process, and what keeps it up to date with the database (docs/search.md, "The feed").
import { setTimeout as sleep } from 'node:timers/promises'
import type { NoticeSubscriber } from '#cache/listen.ts'
import { ApiError } from '#lib/errors.ts'
import type { SearchAnswer, SearchIndex, SearchIndexStatus, SearchQuery } from '#search-index/search-index.ts'
import { finishRebuild, isAhead, SEARCH_KIND, takePosition } from './changes.ts'
import { type FeedSource, followChanges, listCatalogue } from './follow-changes.ts'
import type { IndexFolder, SavedState } from './index-folder.ts'
import { documentBasis } from './search-document.ts'

export type IndexOptions = {
  snapshotFile: string
  onFault: (fault: { message: string; cause?: unknown }) => void
  onRestart: (status: SearchIndexStatus) => void
}

export type SearchFeedOptions = FeedSource & {
  /** Takes a folder that no other process uses. */
  claimFolder: () => Promise<IndexFolder>
  openIndex: (options: IndexOptions) => Promise<SearchIndex>
  /** How often the log of changes is read when no notice says that there is something to read. Default 500. */
  pollMs?: number
  /** How often a changed index is saved; besides when it was rebuilt and at the end. Default one hour. */
  saveEveryMs?: number
}

export type SearchState = {
  state: 'closed' | 'opening' | 'building' | 'ready' | 'rebuilding' | 'failing'
  documents: number
  memoryBytes: number
  error?: string
}

export type SearchFeed = {
  /** Opens the index, which the first search does too. Nothing is waited for. */
  start(): void
  /** @throws ApiError `search_error` while there is no index to answer from. */
  search(query: SearchQuery): Promise<SearchAnswer>
  /**
   * Resolves when all that was committed before the call can be found, and rebuilds requested before it are done;
   * rejects when such a rebuild fails.
   */
  caughtUp(): Promise<void>
  state(): Promise<SearchState>
  /** What makes changes searchable at once; without notices they are within half a second. */
  subscribers: readonly NoticeSubscriber[]
  /** Saves the index and ends it. */
  close(): Promise<void>
}

/** Searches that come before the first index stands wait for it this long after the start. */
const GRACE_MS = 2_000
/** Changes that come one after the other are read together. */
const GATHER_MS = 20
const POLL_MS = 500
const SAVE_EVERY_MS = 3_600_000
const REBUILD_RETRY_MS = 5_000

type Opened = { index: SearchIndex; folder: IndexFolder; database: string }

type Feed = {
  readonly options: SearchFeedOptions
  readonly basis: string
  opened: Opened | undefined
  running: Promise<void> | undefined
  isStopped: boolean
  /** The database up to this snapshot is in the index; undefined until a first build has begun. */
  cursor: string | undefined
  /** What is true of the index on disk. */
  saved: SavedState | undefined
  savedAt: number
  hasUnsaved: boolean
  /** Counts the replacements of the index by an older one: what was under way then says nothing of the new one. */
  epoch: number
  /** The index holds a whole catalogue of this database. */
  canAnswer: boolean
  mustRebuild: boolean
  requested: number
  rebuilt: number
  rebuilding: Promise<void> | undefined
  retryAt: number
  followFault: Error | undefined
  buildFault: Error | undefined
  /** Waiting for a read of the log that begins after they came. */
  waiting: PromiseWithResolvers<void>[]
  readonly grace: PromiseWithResolvers<void>
  wake: () => void
  isWoken: boolean
}

/** Nothing is opened before `start` or the first search. */
export function createSearchFeed(options: SearchFeedOptions): SearchFeed {
  const feed: Feed = {
    options,
    basis: documentBasis(options.taxonomy),
    opened: undefined,
    running: undefined,
    isStopped: false,
    cursor: undefined,
    saved: undefined,
    savedAt: 0,
    hasUnsaved: false,
    epoch: 0,
    canAnswer: false,
    mustRebuild: false,
    requested: 0,
    rebuilt: 0,
    rebuilding: undefined,
    retryAt: 0,
    followFault: undefined,
    buildFault: undefined,
    waiting: [],
    grace: Promise.withResolvers(),
    wake: () => {},
    isWoken: false,
  }
  const handle = (): void => wake(feed)
  return {
    start: () => start(feed),
    search: (query) => search(feed, query),
    caughtUp: () => {
      start(feed)
      const turn = Promise.withResolvers<void>()
      feed.waiting.push(turn)
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
  if (feed.running !== undefined || feed.isStopped) return
  setTimeout(feed.grace.resolve, GRACE_MS).unref()
  feed.running = run(feed)
}

async function search(feed: Feed, query: SearchQuery): Promise<SearchAnswer> {
  if (!feed.canAnswer) {
    start(feed)
    await feed.grace.promise
  }
  if (feed.opened === undefined || !feed.canAnswer) {
    throw new ApiError('search_error', 'The search index is being built; try again in a moment')
  }
  return feed.opened.index.search(query)
}

/** Until the end: reads the log when woken and now and then, begins rebuilds, saves. Faults are tried again. */
async function run(feed: Feed): Promise<void> {
  while (!feed.isStopped) {
    const turns = feed.waiting.splice(0)
    feed.isWoken = false
    try {
      feed.opened ??= await open(feed)
      await follow(feed, feed.opened)
      beginRebuild(feed, feed.opened)
      await save(feed, feed.opened)
      noteFault(feed, undefined)
    } catch (error) {
      noteFault(feed, error instanceof Error ? error : new Error(String(error)))
    }
    if (feed.canAnswer && feed.followFault === undefined && !wantsRebuild(feed))
      for (const turn of turns) turn.resolve()
    else feed.waiting.push(...turns)
    await pause(feed)
  }
}

async function open(feed: Feed): Promise<Opened> {
  const { options } = feed
  const folder = await options.claimFolder()
  let index: SearchIndex | undefined
  try {
    const saved = await folder.readState()
    index = await options.openIndex({
      snapshotFile: folder.snapshotFile,
      onFault: ({ message, cause }) => options.log.error({ err: cause }, message),
      onRestart: (status) => goBack(feed, status),
    })
    const { database } = await takePosition(options.db)
    const isOurs = saved?.database === database && !(await isAhead(options.db, saved.snapshot))
    feed.saved = isOurs ? saved : undefined
    feed.savedAt = performance.now()
    goBack(feed, await index.status())
    return { index, folder, database }
  } catch (error) {
    await index?.close()
    folder.release()
    throw error
  }
}

/** The index is what it was when it was last saved, or empty. */
function goBack(feed: Feed, { sequence }: SearchIndexStatus): void {
  const saved = sequence > 0 ? feed.saved : undefined
  feed.epoch += 1
  feed.cursor = saved?.snapshot
  feed.rebuilt = saved?.rebuilt ?? 0
  feed.mustRebuild = saved?.basis !== feed.basis
  feed.canAnswer = saved !== undefined
  feed.retryAt = 0
  if (feed.canAnswer) feed.grace.resolve()
  wake(feed)
}

async function follow(feed: Feed, { index }: Opened): Promise<void> {
  const { epoch, cursor } = feed
  if (cursor === undefined) return
  const { snapshot, requested, projects } = await followChanges(feed.options, index, cursor)
  if (feed.epoch !== epoch) return
  feed.cursor = snapshot
  feed.requested = requested
  if (projects > 0) feed.hasUnsaved = true
}

function wantsRebuild(feed: Feed): boolean {
  return feed.mustRebuild || feed.requested > feed.rebuilt
}

/** Beside the loop, because the index goes on following the database meanwhile. */
function beginRebuild(feed: Feed, opened: Opened): void {
  if (!wantsRebuild(feed) || feed.rebuilding !== undefined || performance.now() < feed.retryAt) return
  feed.rebuilding = rebuild(feed, opened)
    .then(() => {
      feed.buildFault = undefined
    })
    .catch((error: Error) => {
      if (feed.isStopped) return
      feed.buildFault = error
      feed.retryAt = performance.now() + REBUILD_RETRY_MS
      for (const turn of feed.waiting.splice(0)) turn.reject(error)
      feed.options.log.error({ err: error }, 'The search index could not be built; it is tried again')
    })
    .finally(() => {
      feed.rebuilding = undefined
      wake(feed)
    })
}

async function rebuild(feed: Feed, { index }: Opened): Promise<void> {
  const { db, log } = feed.options
  const startedAt = performance.now()
  const { epoch } = feed
  let requested = 0
  await index.rebuild(async () => {
    const position = await takePosition(db)
    requested = position.requested
    // A first build: what is committed from here on is followed while it runs.
    feed.cursor ??= position.snapshot
    wake(feed)
    return { sequence: position.sequence, batches: listCatalogue(feed.options, () => feed.isStopped) }
  })
  if (feed.epoch !== epoch) throw new Error('The search index was replaced while it was built')
  feed.mustRebuild = false
  feed.canAnswer = true
  feed.grace.resolve()
  feed.rebuilt = requested
  feed.hasUnsaved = true
  feed.savedAt = Number.NEGATIVE_INFINITY
  const { documents } = await index.status()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  log.info({ search: { documents, build_s: seconds } }, `Built the search index: ${documents} projects in ${seconds} s`)
  await finishRebuild(db, requested)
}

/** In the loop, so that the index does not move on between the note of where it stands and its own file. */
async function save(feed: Feed, { index, folder, database }: Opened, isEnd = false): Promise<void> {
  const { epoch, cursor, basis, rebuilt } = feed
  const isDue = isEnd || performance.now() - feed.savedAt > (feed.options.saveEveryMs ?? SAVE_EVERY_MS)
  const isWhole = feed.canAnswer && !feed.mustRebuild && feed.rebuilding === undefined
  if (!isDue || !isWhole || !feed.hasUnsaved || cursor === undefined) return
  await index.checkpoint()
  if (feed.epoch !== epoch) return
  const state = { snapshot: cursor, database, basis, rebuilt }
  await folder.writeState(state)
  feed.saved = state
  feed.savedAt = performance.now()
  feed.hasUnsaved = false
}

/** Said once when it begins and once when it is over. */
function noteFault(feed: Feed, fault: Error | undefined): void {
  const { log } = feed.options
  if (fault !== undefined && feed.followFault === undefined) {
    log.warn({ err: fault }, 'Search does not follow the database; it is tried again')
  }
  if (fault === undefined && feed.followFault !== undefined) log.info('Search follows the database again')
  feed.followFault = fault
}

function wake(feed: Feed): void {
  feed.isWoken = true
  feed.wake()
}

async function pause(feed: Feed): Promise<void> {
  if (feed.isStopped) return
  await sleep(GATHER_MS)
  if (feed.isWoken || feed.isStopped) return
  const { promise, resolve } = Promise.withResolvers<void>()
  feed.wake = resolve
  const timer = setTimeout(resolve, feed.options.pollMs ?? POLL_MS)
  await promise
  clearTimeout(timer)
  feed.wake = () => {}
}

async function stateOf(feed: Feed): Promise<SearchState> {
  const { documents, memoryBytes, ready } = (await feed.opened?.index.status()) ?? {
    documents: 0,
    memoryBytes: 0,
    ready: true,
  }
  const fault = ready ? (feed.followFault ?? feed.buildFault) : new Error('The search thread is being replaced')
  const sizes = { documents, memoryBytes }
  if (fault !== undefined) return { state: 'failing', ...sizes, error: fault.message }
  if (feed.running === undefined) return { state: 'closed', ...sizes }
  if (feed.opened === undefined) return { state: 'opening', ...sizes }
  if (!feed.canAnswer) return { state: 'building', ...sizes }
  return { state: feed.rebuilding === undefined ? 'ready' : 'rebuilding', ...sizes }
}

async function close(feed: Feed): Promise<void> {
  if (feed.isStopped) return
  feed.isStopped = true
  feed.grace.resolve()
  wake(feed)
  await feed.running
  await feed.rebuilding
  const stopped = new ApiError('search_error', 'Search was closed')
  for (const turn of feed.waiting.splice(0)) turn.reject(stopped)
  if (feed.opened === undefined) return
  try {
    await save(feed, feed.opened, true)
  } catch (error) {
    feed.options.log.error({ err: error }, 'The search index could not be saved; the next start catches up or rebuilds')
  } finally {
    feed.canAnswer = false
    await feed.opened.index.close()
    feed.opened.folder.release()
  }
}
