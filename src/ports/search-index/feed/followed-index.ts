// An index with the moment of the database up to which it has followed: opening, catching up, rebuilding, saving.
import { HOUR_MS } from '#lib/time.ts'
import type { SearchIndex, SearchIndexStatus } from '#ports/search-index/search-index.ts'
import { finishRebuild, isOf, listChanges, takePosition } from './changes.ts'
import { type FeedSource, followChanges, listCatalogue } from './follow-changes.ts'
import type { IndexLease, IndexLeases, SavedState } from './index-lease.ts'
import { documentBasis } from './search-document.ts'

export type IndexOptions = {
  /** Where an index in memory is saved. */
  snapshotFile?: string
  onError: (problem: { message: string; cause?: unknown }) => void
  onRestart: (status: SearchIndexStatus) => void
}

export type FollowedIndexOptions = FeedSource & {
  leases: IndexLeases
  openIndex: (options: IndexOptions) => Promise<SearchIndex>
  /** How often a changed index is saved; besides when it was rebuilt and at the end. Default one hour. */
  saveEveryMs?: number
  /** A failed rebuild is tried again after this. Default 5 s. */
  rebuildRetryMs?: number
  /** How often the lease, and an index that lies outside of the process, are looked after. Default 2 s. */
  checkEveryMs?: number
}

const SAVE_EVERY_MS = HOUR_MS
const REBUILD_RETRY_MS = 5_000
const CHECK_EVERY_MS = 2_000

/** Without a lease another process feeds the index, and this one only asks it. */
type Opened = { index: SearchIndex; lease: IndexLease | undefined; database: string }

export type FollowedIndex = {
  readonly options: FollowedIndexOptions
  readonly basis: string
  /** Called when what this says of itself has changed other than by the caller's own doing. */
  readonly onMoved: () => void
  opened: Opened | undefined
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
  /** Another process feeds the index and has not yet applied all that was committed. */
  isBehind: boolean
  /** As the index reported it last. */
  identity: string
  checkedAt: number
  mustRebuild: boolean
  /** Rebuilds asked for by operators, and those met. */
  requested: number
  rebuilt: number
  rebuilding: Promise<void> | undefined
  rebuildError: Error | undefined
  retryAt: number
}

/** Nothing is opened yet. */
export function createFollowedIndex(options: FollowedIndexOptions, onMoved: () => void): FollowedIndex {
  return {
    options,
    basis: documentBasis(options.taxonomy),
    onMoved,
    opened: undefined,
    isStopped: false,
    cursor: undefined,
    saved: undefined,
    savedAt: 0,
    hasUnsaved: false,
    epoch: 0,
    canAnswer: false,
    isBehind: false,
    identity: '',
    checkedAt: Number.NEGATIVE_INFINITY,
    mustRebuild: false,
    requested: 0,
    rebuilt: 0,
    rebuilding: undefined,
    rebuildError: undefined,
    retryAt: 0,
  }
}

/** Opens the index, as it was saved where that was of this database; undefined leases are those of other processes. */
export async function openIndex(followed: FollowedIndex): Promise<void> {
  const { log, ...options } = followed.options
  const lease = await options.leases.acquire()
  if (lease === undefined && options.leases.watch === undefined) throw new Error('The search index is in use')
  let index: SearchIndex | undefined
  try {
    index = await options.openIndex({
      ...(lease?.snapshotFile === undefined ? {} : { snapshotFile: lease.snapshotFile }),
      onError: ({ message, cause }) => log.error({ err: cause }, message),
      onRestart: (status) => goBack(followed, status),
    })
    followed.opened = { index, lease: undefined, database: '' }
    followed.checkedAt = performance.now()
    if (lease !== undefined) await takePlace(followed, lease)
  } catch (error) {
    followed.opened = undefined
    await index?.close()
    await lease?.release()
    throw error
  }
}

/** From here on this process feeds the index. */
async function takePlace(followed: FollowedIndex, lease: IndexLease): Promise<void> {
  const { opened, options } = followed
  if (opened === undefined) return
  const status = await opened.index.status()
  if (!status.ready) throw new Error('The search engine does not answer')
  const saved = await lease.readState()
  const { database } = await takePosition(options.db)
  followed.saved = saved !== undefined && (await isOf(options.db, saved)) ? saved : undefined
  followed.savedAt = performance.now()
  followed.isBehind = false
  opened.lease = lease
  opened.database = database
  goBack(followed, status)
}

/** The index is what it was when it was last saved, or empty. */
function goBack(followed: FollowedIndex, { sequence, identity }: SearchIndexStatus): void {
  const isSaved = sequence > 0 && (followed.saved?.identity ?? '') === identity
  const saved = isSaved ? followed.saved : undefined
  followed.epoch += 1
  followed.identity = identity
  followed.cursor = saved?.snapshot
  followed.rebuilt = saved?.rebuilt ?? 0
  followed.mustRebuild = saved?.basis !== followed.basis
  followed.canAnswer = saved !== undefined
  followed.retryAt = 0
  followed.onMoved()
}

/**
 * Now and then: whether this process still has the lease, whether the index is still the one that it fed, and where
 * another process feeds it, whether that one is gone.
 */
export async function checkPlace(followed: FollowedIndex): Promise<void> {
  const { opened, options } = followed
  if (opened === undefined || options.leases.watch === undefined) return
  if (opened.lease?.isLost() === true) await losePlace(followed, opened)
  if (performance.now() - followed.checkedAt < (options.checkEveryMs ?? CHECK_EVERY_MS)) return
  followed.checkedAt = performance.now()
  if (opened.lease === undefined) {
    const lease = await options.leases.acquire()
    if (lease === undefined) return
    try {
      await takePlace(followed, lease)
      options.log.info('This process feeds the search index now')
    } catch (error) {
      await lease.release()
      throw error
    }
    return
  }
  await opened.lease.check()
  if (followed.rebuilding !== undefined) return
  const status = await opened.index.status()
  if (!status.ready) throw new Error('The search engine does not answer')
  if (status.identity === followed.identity || followed.rebuilding !== undefined) return
  options.log.warn('The search index was removed or replaced; it is built again')
  goBack(followed, { ...status, sequence: 0 })
}

async function losePlace(followed: FollowedIndex, opened: Opened): Promise<void> {
  followed.options.log.warn('Another process may feed the search index; this one stops')
  const { lease } = opened
  opened.lease = undefined
  followed.epoch += 1
  followed.cursor = undefined
  await lease?.release()
}

/** Where another process feeds the index: whether it can be asked, and whether it has all that was committed. */
export async function watchIndex(followed: FollowedIndex): Promise<void> {
  const { options, opened } = followed
  if (opened === undefined || opened.lease !== undefined) return
  const state = await options.leases.watch?.()
  followed.canAnswer = state !== undefined
  followed.isBehind = true
  if (state === undefined) return
  const { requested, database, sequence } = await listChanges(options.db, { from: state.snapshot, limit: 1 })
  followed.requested = requested
  followed.rebuilt = state.rebuilt
  followed.mustRebuild = state.basis !== followed.basis
  followed.isBehind = sequence !== null || database !== state.database
}

/** Applies what was committed since the last time. */
export async function catchUp(followed: FollowedIndex): Promise<void> {
  const { options, opened, epoch, cursor } = followed
  if (opened?.lease === undefined || cursor === undefined) return
  const { snapshot, requested, projects, database } = await followChanges(options, opened.index, cursor)
  if (followed.epoch !== epoch) return
  if (database !== opened.database) {
    startOver(followed, opened)
    return
  }
  followed.cursor = snapshot
  followed.requested = requested
  if (projects > 0) followed.hasUnsaved = true
}

/** What the index followed is gone: a backup was restored, or a standby took over. The old index answers meanwhile. */
function startOver(followed: FollowedIndex, opened: Opened): void {
  followed.options.log.warn('The database is not the one that search followed; the index is rebuilt')
  opened.database = ''
  followed.epoch += 1
  followed.cursor = undefined
  followed.saved = undefined
  followed.mustRebuild = true
  followed.retryAt = 0
}

export function wantsRebuild({ mustRebuild, requested, rebuilt }: FollowedIndex): boolean {
  return mustRebuild || requested > rebuilt
}

/** Begins a rebuild where one is due. It is not waited for, because the index is to follow the database meanwhile. */
export function beginRebuild(followed: FollowedIndex): void {
  const { opened, options } = followed
  const isDue = wantsRebuild(followed) && performance.now() >= followed.retryAt
  if (opened?.lease === undefined || !isDue || followed.rebuilding !== undefined) return
  followed.rebuilding = rebuild(followed, opened)
    .then(() => {
      followed.rebuildError = undefined
    })
    .catch((error: Error) => {
      if (followed.isStopped) return
      followed.rebuildError = error
      followed.retryAt = performance.now() + (options.rebuildRetryMs ?? REBUILD_RETRY_MS)
      options.log.error({ err: error }, 'The search index could not be built; it is tried again')
    })
    .finally(() => {
      followed.rebuilding = undefined
      followed.onMoved()
    })
}

async function rebuild(followed: FollowedIndex, opened: Opened): Promise<void> {
  const { options, epoch } = followed
  const { index, lease } = opened
  const isOver = () => followed.isStopped || opened.lease !== lease || lease?.isLost() === true
  const startedAt = performance.now()
  let requested = 0
  await index.rebuild(async () => {
    const position = await takePosition(options.db)
    requested = position.requested
    // A first build: what is committed from here on is followed while it runs.
    if (followed.cursor === undefined) {
      followed.cursor = position.snapshot
      opened.database = position.database
    }
    followed.onMoved()
    return { sequence: position.sequence, batches: listCatalogue(options, isOver) }
  })
  if (followed.epoch !== epoch) throw new Error('The search index was replaced while it was built')
  const { documents, identity, ready } = await index.status()
  if (!ready) throw new Error('The search engine does not answer')
  followed.identity = identity
  followed.mustRebuild = false
  followed.canAnswer = true
  followed.hasUnsaved = true
  followed.savedAt = Number.NEGATIVE_INFINITY
  const seconds = Math.round(performance.now() - startedAt) / 1000
  options.log.info(
    { search: { documents, build_s: seconds } },
    `Built the search index: ${documents} projects in ${seconds} s`,
  )
  await finishRebuild(options.db, requested)
  if (followed.epoch === epoch) followed.rebuilt = requested
}

/**
 * Saves the index where that is due, or at the `end`. Not beside `catchUp`: the index must not move on between the note
 * of where it stands and the writing of its file. A note that is too old is harmless, one that is too new is not.
 */
export async function saveIndex(followed: FollowedIndex, { isEnd = false } = {}): Promise<void> {
  const { options, opened, epoch, cursor, basis, rebuilt } = followed
  const isDue = isEnd || performance.now() - followed.savedAt > (options.saveEveryMs ?? SAVE_EVERY_MS)
  const isWhole = followed.canAnswer && !followed.mustRebuild && followed.rebuilding === undefined
  if (opened?.lease === undefined || cursor === undefined || !isDue || !isWhole || !followed.hasUnsaved) return
  await opened.index.checkpoint()
  if (followed.epoch !== epoch) return
  const state = { snapshot: cursor, database: opened.database, basis, rebuilt, identity: followed.identity }
  await opened.lease.writeState(state)
  followed.saved = state
  followed.savedAt = performance.now()
  followed.hasUnsaved = false
}

/** Saves the index and ends it. The caller no longer catches up. */
export async function closeIndex(followed: FollowedIndex): Promise<void> {
  followed.isStopped = true
  await followed.rebuilding
  const { opened, options } = followed
  if (opened === undefined) return
  try {
    await saveIndex(followed, { isEnd: true })
  } catch (error) {
    options.log.error({ err: error }, 'The search index could not be saved; the next start catches up or builds it')
  } finally {
    followed.canAnswer = false
    await opened.index.close()
    await opened.lease?.release()
  }
}
