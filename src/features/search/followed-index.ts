// An index with the moment of the database up to which it has followed: opening, catching up, building anew, saving.
import type { SearchIndex, SearchIndexStatus } from '#search-index/search-index.ts'
import { finishRebuild, isOf, takePosition } from './changes.ts'
import { type FeedSource, followChanges, listCatalogue } from './follow-changes.ts'
import type { IndexFolder, SavedState } from './index-folder.ts'
import { documentBasis } from './search-document.ts'

export type IndexOptions = {
  snapshotFile: string
  onFault: (fault: { message: string; cause?: unknown }) => void
  onRestart: (status: SearchIndexStatus) => void
}

export type FollowedIndexOptions = FeedSource & {
  /** Takes a folder that no other process uses. */
  claimFolder: () => Promise<IndexFolder>
  openIndex: (options: IndexOptions) => Promise<SearchIndex>
  /** How often a changed index is saved; besides when it was rebuilt and at the end. Default one hour. */
  saveEveryMs?: number
  /** A failed rebuild is tried again after this. Default 5 s. */
  rebuildRetryMs?: number
}

const SAVE_EVERY_MS = 3_600_000
const REBUILD_RETRY_MS = 5_000

type Opened = { index: SearchIndex; folder: IndexFolder; database: string }

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
  mustRebuild: boolean
  /** Rebuilds asked for by operators, and those met. */
  requested: number
  rebuilt: number
  rebuilding: Promise<void> | undefined
  rebuildFault: Error | undefined
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
    mustRebuild: false,
    requested: 0,
    rebuilt: 0,
    rebuilding: undefined,
    rebuildFault: undefined,
    retryAt: 0,
  }
}

/** Opens the index as it was saved, where that was of this database. */
export async function openIndex(followed: FollowedIndex): Promise<void> {
  const { db, log, ...options } = followed.options
  const folder = await options.claimFolder()
  let index: SearchIndex | undefined
  try {
    const saved = await folder.readState()
    index = await options.openIndex({
      snapshotFile: folder.snapshotFile,
      onFault: ({ message, cause }) => log.error({ err: cause }, message),
      onRestart: (status) => goBack(followed, status),
    })
    const { database } = await takePosition(db)
    followed.saved = saved !== undefined && (await isOf(db, saved)) ? saved : undefined
    followed.savedAt = performance.now()
    followed.opened = { index, folder, database }
    goBack(followed, await index.status())
  } catch (error) {
    followed.opened = undefined
    await index?.close()
    folder.release()
    throw error
  }
}

/** The index is what it was when it was last saved, or empty. */
function goBack(followed: FollowedIndex, { sequence }: SearchIndexStatus): void {
  const saved = sequence > 0 ? followed.saved : undefined
  followed.epoch += 1
  followed.cursor = saved?.snapshot
  followed.rebuilt = saved?.rebuilt ?? 0
  followed.mustRebuild = saved?.basis !== followed.basis
  followed.canAnswer = saved !== undefined
  followed.retryAt = 0
  followed.onMoved()
}

/** Applies what was committed since the last time. */
export async function catchUp(followed: FollowedIndex): Promise<void> {
  const { options, opened, epoch, cursor } = followed
  if (opened === undefined || cursor === undefined) return
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
  followed.options.log.warn('The database is not the one that search followed; the index is built anew')
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
  if (opened === undefined || !isDue || followed.rebuilding !== undefined) return
  followed.rebuilding = rebuild(followed, opened)
    .then(() => {
      followed.rebuildFault = undefined
    })
    .catch((error: Error) => {
      if (followed.isStopped) return
      followed.rebuildFault = error
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
  const { index } = opened
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
    return { sequence: position.sequence, batches: listCatalogue(options, () => followed.isStopped) }
  })
  if (followed.epoch !== epoch) throw new Error('The search index was replaced while it was built')
  followed.mustRebuild = false
  followed.canAnswer = true
  followed.hasUnsaved = true
  followed.savedAt = Number.NEGATIVE_INFINITY
  const { documents } = await index.status()
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
  if (opened === undefined || cursor === undefined || !isDue || !isWhole || !followed.hasUnsaved) return
  await opened.index.checkpoint()
  if (followed.epoch !== epoch) return
  const state = { snapshot: cursor, database: opened.database, basis, rebuilt }
  await opened.folder.writeState(state)
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
    opened.folder.release()
  }
}
