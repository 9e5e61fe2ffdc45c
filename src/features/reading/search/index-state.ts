// The state of the search index for operators.
import type { Deps } from '#ports/deps.ts'
import { readIndexTarget } from '#ports/search-index/feed/changes.ts'
import type { IndexStateView } from './views.ts'

/** Returns the state of the index that this process searches. */
export async function loadIndexState({
  db,
  search,
  now,
}: Pick<Deps, 'db' | 'search' | 'now'>): Promise<IndexStateView> {
  const { state, documents, memoryBytes, built, changedAgoMs, error } = await search.state()
  const { isRequested, projects } = await readIndexTarget(db)
  return {
    state,
    documents,
    projects,
    memory_bytes: memoryBytes,
    changed: changedAgoMs === undefined ? null : new Date(now() - changedAgoMs).toISOString(),
    is_requested: isRequested,
    rebuild: built === undefined ? null : { built, total: projects },
    error: error ?? null,
  }
}
