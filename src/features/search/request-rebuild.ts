// Asks every process to rebuild its search index.

import { transaction } from '#cache/transaction.ts'
import type { Actor } from '#features/audit/actor.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import type { Deps } from '#main/deps.ts'
import { insertRebuildRequest, SEARCH_KIND } from './changes.ts'

/** Announces the request; gives its number, to be compared with `findFinishedRebuild`. */
export async function requestRebuild(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor): Promise<number> {
  return transaction(deps, async (tx, changed) => {
    changed.addAll(SEARCH_KIND)
    await recordAudit(tx, { action: 'search.rebuild_requested', actor })
    return insertRebuildRequest(tx)
  })
}
