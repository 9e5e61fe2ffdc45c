import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { quietSince } from './quiet.ts'
import { SETTINGS_ID } from './settings-cache.ts'

/** Lets a quiet copy run its jobs and send what waits. Returns false if it is not quiet. */
export async function resume(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const since = await quietSince(tx)
    if (since === null) return false
    await tx.updateTable('instance_copy').set({ quiet_since: null }).execute()
    await recordAudit(tx, { action: 'instance.resumed', actor, details: { quiet_since: since.toISOString() } })
    // Every page of a quiet copy says so.
    changed.add('settings', SETTINGS_ID)
    return true
  })
}
