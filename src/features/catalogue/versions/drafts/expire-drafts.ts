// Deletes incomplete drafts that nobody has changed for a while, with their files.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deletionEntry, eraseVersion } from '../lifecycle/delete-version.ts'
import { lockVersion } from '../queries.ts'

/** Maximum number of drafts per job; the next job continues with the rest. */
const DRAFTS_PER_JOB = 1000

/** Deletes the expired drafts, longest expired first. Each has its own transaction, which checks the expiry again. */
export async function expireDrafts(deps: Pick<Deps, 'db' | 'cache' | 'now'>, signal: AbortSignal): Promise<void> {
  const now = new Date(deps.now())
  const due = await deps.db
    .selectFrom('version')
    .select('id')
    .where('draft_expires', '<=', now)
    .orderBy('draft_expires')
    .limit(DRAFTS_PER_JOB)
    .execute()
  for (const { id } of due) {
    if (signal.aborted) return
    await transaction(deps, async (tx, changed) => {
      const locked = await lockVersion(tx, id)
      const expires = locked?.version.draft_expires ?? null
      if (locked === undefined || expires === null || expires > now) return
      await recordAudit(tx, deletionEntry(SYSTEM, locked))
      await eraseVersion(tx, changed, locked, now)
    })
  }
}
