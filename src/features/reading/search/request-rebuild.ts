// Requests every process to rebuild its search index.

import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { insertRebuildRequest, SEARCH_KIND } from '#ports/search-index/feed/changes.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    search: true
  }
}

/** Announces the request and returns its number, to compare with `findFinishedRebuild`. */
export async function requestRebuild(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor): Promise<number> {
  return transaction(deps, async (tx, changed) => {
    changed.addAll(SEARCH_KIND)
    // A restored instance must have exactly the rows of its backup.
    if (actor.kind !== 'system') await recordAudit(tx, { action: 'search.rebuild_requested', actor })
    return insertRebuildRequest(tx)
  })
}
