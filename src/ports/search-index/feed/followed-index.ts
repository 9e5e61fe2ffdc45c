// Opens the search index of a process, updates it from the database, rebuilds, saves and closes it.
import { HOUR_MS } from '#lib/time.ts'
import type { Catalogue, SearchIndex, SearchIndexStatus } from '#ports/search-index/search-index.ts'
import { finishRebuild, isOfDatabase, listChanges, takePosition } from './changes.ts'
import { followChanges, listCatalogue } from './follow-changes.ts'
import type { IndexLease } from './index-lease.ts'
import { type Feeder, type Feeding, type FollowedIndex, feedingOf, settle, type Watching } from './index-state.ts'

const SAVE_EVERY_MS = HOUR_MS
const REBUILD_RETRY_MS = 5_000
const CHECK_EVERY_MS = 2_000

/** Opens the index and feeds it if the lease is available; otherwise watches it. */
export async function openIndex(followed: FollowedIndex): Promise<void> {
  const { log, ...options } = followed.options
  const lease = await options.leases.acquire()
  if (lease === undefined && options.leases.watch === undefined)
    throw new Error('Another process uses the search index')
  let index: SearchIndex | undefined
  try {
    index = await options.openIndex({
      ...(lease?.snapshotFile === undefined ? {} : { snapshotFile: lease.snapshotFile }),
      onError: ({ message, cause }) => log.error({ err: cause }, message),
      onRestart: (status) => revert(followed, status),
    })
    if (lease === undefined) followed.state = { name: 'watching', index, isSearchable: false, isCurrent: false }
    else await beginFeeding(followed, index, lease)
    followed.checkedAt = performance.now()
  } catch (error) {
    await index?.close()
    await lease?.release()
    throw error
  }
}

async function beginFeeding(followed: FollowedIndex, index: SearchIndex, lease: IndexLease): Promise<void> {
  const { db } = followed.options
  const status = await readyStatus(index)
  const saved = await lease.readState()
  const { database } = await takePosition(db)
  const feeding: Feeding = {
    ...{ lease, database, cursor: undefined, identity: '', basis: '', catalogue: 'none', requested: 0, rebuilt: 0 },
    saved: saved !== undefined && (await isOfDatabase(db, saved)) ? saved : undefined,
    savedAt: performance.now(),
    hasUnsaved: false,
  }
  followed.state = settle({ index, feeding })
  revert(followed, status)
}

async function readyStatus(index: SearchIndex): Promise<SearchIndexStatus> {
  const status = await index.status()
  if (!status.ready) throw new Error('The search engine does not respond')
  return status
}

/** Continues from the saved state if the index has just loaded it, and otherwise as with an empty index. */
function revert(
  followed: FollowedIndex,
  { sequence, identity }: Pick<SearchIndexStatus, 'sequence' | 'identity'>,
): void {
  const feeding = feedingOf(followed)
  if (feeding === undefined) return
  const isSaved = sequence > 0 && (feeding.saved?.identity ?? '') === identity
  const saved = isSaved ? feeding.saved : undefined
  const outdated = saved === undefined ? 'none' : 'outdated'
  replaceFeeding(followed, {
    ...feeding,
    identity,
    cursor: saved?.snapshot,
    rebuilt: saved?.rebuilt ?? 0,
    basis: followed.basis,
    catalogue: saved?.basis === followed.basis ? 'current' : outdated,
  })
}

/** A rebuild in progress fails after this, because it belongs to the previous object. */
function replaceFeeding(followed: FollowedIndex, feeding: Feeding): void {
  const { state } = followed
  if (!('feeding' in state)) return
  followed.state = state.name === 'rebuilding' ? { ...state, feeding } : settle({ ...state, feeding })
  followed.onChange()
}

/**
 * Checks a shared index at intervals. A watcher tries to acquire the lease. A feeder checks that it still has the lease
 * and that the index is still the one that it fed.
 */
export async function checkLease(followed: FollowedIndex): Promise<void> {
  const { options } = followed
  if (options.leases.watch === undefined) return
  if (feedingOf(followed)?.lease.isLost() === true) await loseLease(followed)
  if (performance.now() - followed.checkedAt < (options.checkEveryMs ?? CHECK_EVERY_MS)) return
  followed.checkedAt = performance.now()
  if (followed.state.name === 'watching') await tryToFeed(followed, followed.state)
  else await checkIdentity(followed)
}

async function loseLease(followed: FollowedIndex): Promise<void> {
  followed.options.log.warn('This process stops feeding the search index because it lost the lease')
  if (followed.state.name === 'rebuilding') await followed.state.done
  if (!('feeding' in followed.state)) return
  const { index, feeding } = followed.state
  const isSearchable = feeding.catalogue !== 'none'
  followed.state = { name: 'watching', index, isSearchable, isCurrent: false }
  await feeding.lease.release()
}

async function tryToFeed(followed: FollowedIndex, { index }: Watching): Promise<void> {
  const lease = await followed.options.leases.acquire()
  if (lease === undefined) return
  try {
    await beginFeeding(followed, index, lease)
  } catch (error) {
    await lease.release()
    throw error
  }
  followed.options.log.info('This process now feeds the search index')
}

async function checkIdentity(followed: FollowedIndex): Promise<void> {
  await feedingOf(followed)?.lease.check()
  const before = followed.state
  if (before.name !== 'outdated' && before.name !== 'ready') return
  const { identity } = await readyStatus(before.index)
  if (identity === before.feeding.identity || followed.state !== before) return
  followed.options.log.warn('The search index was deleted or replaced outside of Depot and is being rebuilt')
  revert(followed, { sequence: 0, identity })
}

/** Reads from the lease whether the feeder's index can be searched and contains everything that is committed. */
export async function watchIndex(followed: FollowedIndex): Promise<void> {
  const { options, basis, state } = followed
  if (state.name !== 'watching') return
  const saved = await options.leases.watch?.()
  followed.state = { ...state, isSearchable: saved !== undefined, isCurrent: false }
  if (saved === undefined) return
  const { requested, database, sequence } = await listChanges(options.db, { from: saved.snapshot, limit: 1 })
  const isSameBuild = saved.database === database && saved.basis === basis && saved.rebuilt >= requested
  followed.state = { ...followed.state, isCurrent: isSameBuild && sequence === null }
}

/** Applies the changes that were committed since the last call. */
export async function catchUp(followed: FollowedIndex): Promise<void> {
  const { options, state } = followed
  if (!('feeding' in state) || state.feeding.cursor === undefined) return
  const { index, feeding } = state
  const { snapshot, requested, projects, database } = await followChanges(options, index, state.feeding.cursor)
  if (feedingOf(followed) !== feeding) return
  if (database !== feeding.database) {
    startOver(followed, feeding)
    return
  }
  feeding.cursor = snapshot
  feeding.requested = requested
  if (feeding.catalogue === 'current' && feeding.basis !== followed.basis) feeding.catalogue = 'outdated'
  if (projects > 0) {
    feeding.hasUnsaved = true
    followed.changedAt = performance.now()
  }
  if (followed.state.name === 'ready') followed.state = settle({ index, feeding })
}

/** Follows another database, after a restore or a failover. Searches use the old index until it is rebuilt. */
function startOver(followed: FollowedIndex, feeding: Feeding): void {
  followed.options.log.warn('The database was restored or replaced; the search index is being rebuilt')
  const catalogue = feeding.catalogue === 'none' ? 'none' : 'outdated'
  replaceFeeding(followed, { ...feeding, database: '', cursor: undefined, saved: undefined, catalogue })
}

/** Begins a rebuild if one is due, and does not await it, because the index must follow the database during it. */
export function beginRebuild(followed: FollowedIndex): void {
  const { state } = followed
  if (state.name !== 'outdated' || performance.now() < state.rebuildAt) return
  const done = rebuild(followed, state).then(
    () => endRebuild(followed),
    (error: Error) => endRebuild(followed, error),
  )
  followed.state = { ...state, name: 'rebuilding', done }
}

function endRebuild(followed: FollowedIndex, error?: Error): void {
  const { options, state, signal } = followed
  if (state.name !== 'rebuilding') return
  const { index, feeding } = state
  if (error === undefined || signal.aborted) followed.state = settle(state)
  else {
    const rebuildAt = performance.now() + (options.rebuildRetryMs ?? REBUILD_RETRY_MS)
    followed.state = { name: 'outdated', index, feeding, rebuildAt, error }
    options.log.error({ err: error }, 'Could not build the search index; it will be tried again')
  }
  followed.onChange()
}

async function rebuild(followed: FollowedIndex, { index, feeding }: Feeder): Promise<void> {
  const { options, signal } = followed
  const isReplaced = () => feedingOf(followed) !== feeding || feeding.lease.isLost()
  const startedAt = performance.now()
  const { basis } = followed
  let requested = 0
  await index.rebuild(async () => {
    const position = await takePosition(options.db)
    requested = position.requested
    // A first build: changes that are committed from now on are applied during the build.
    if (feeding.cursor === undefined) Object.assign(feeding, { cursor: position.snapshot, database: position.database })
    followed.onChange()
    const isStopped = () => signal.aborted || isReplaced()
    return { sequence: position.sequence, batches: counted(followed, listCatalogue(options, isStopped)) }
  })
  if (isReplaced()) throw new Error('The search index was replaced during the build')
  const { documents, identity } = await readyStatus(index)
  followed.changedAt = performance.now()
  const savedAt = Number.NEGATIVE_INFINITY
  Object.assign(feeding, {
    identity,
    basis,
    catalogue: 'current',
    hasUnsaved: true,
    savedAt,
  } satisfies Partial<Feeding>)
  const seconds = Math.round(performance.now() - startedAt) / 1000
  options.log.info(
    { search: { documents, build_s: seconds } },
    `Built the search index: ${documents} projects in ${seconds} s`,
  )
  await finishRebuild(options.db, requested)
  feeding.rebuilt = requested
}

/** Passes the batches on, and counts their documents. */
async function* counted(followed: FollowedIndex, batches: Catalogue['batches']): Catalogue['batches'] {
  followed.built = 0
  for await (const batch of batches) {
    yield batch
    followed.built += batch.length
  }
}

/**
 * Saves the index if the interval has passed, or on close. Must not run concurrently with `catchUp`: the saved state may
 * name a snapshot that is older than the content of the index, but never a newer one.
 */
export async function saveIndex(followed: FollowedIndex, { isEnd = false } = {}): Promise<void> {
  const { options, state } = followed
  if (state.name !== 'outdated' && state.name !== 'ready') return
  const { index, feeding } = state
  const { lease, cursor, database, basis, rebuilt, identity, catalogue, savedAt, hasUnsaved } = feeding
  const isDue = isEnd || performance.now() - savedAt > (options.saveEveryMs ?? SAVE_EVERY_MS)
  if (cursor === undefined || catalogue !== 'current' || !hasUnsaved || !isDue) return
  await index.checkpoint()
  if (feedingOf(followed) !== feeding) return
  const saved = { snapshot: cursor, database, basis, rebuilt, identity }
  await lease.writeState(saved)
  Object.assign(feeding, { saved, savedAt: performance.now(), hasUnsaved: false } satisfies Partial<Feeding>)
}

/** Saves and closes the index. The caller must have stopped calling `catchUp`. */
export async function closeIndex(followed: FollowedIndex): Promise<void> {
  const { options } = followed
  if (followed.state.name === 'rebuilding') await followed.state.done
  const { state } = followed
  if (state.name === 'closed') return
  try {
    await saveIndex(followed, { isEnd: true })
  } catch (error) {
    options.log.error({ err: error }, 'Could not save the search index; the next start updates or rebuilds it')
  } finally {
    followed.state = { name: 'closed' }
    await state.index.close()
    if ('feeding' in state) await state.feeding.lease.release()
  }
}
