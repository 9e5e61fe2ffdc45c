import { lockAccount, lockOtherAdmins } from '#features/basics/access/accounts.ts'
import type { Role } from '#features/basics/access/viewer.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { requirePerson } from '#features/people/users/policy.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Changes the role of an account, also for its existing tokens. @throws ApiError 404, `invalid_input` for the last admin and for a service account. */
export async function setRole(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  { accountId, role, actor }: { accountId: string; role: Role; actor: Actor },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { role: previous } = requirePerson(await lockAccount(tx, accountId))
    if (previous === 'admin' && role !== 'admin') await lockOtherAdmins(tx, accountId, deps.now())
    await tx.updateTable('account').set({ role }).where('id', '=', accountId).execute()
    await endLostAccess(tx, changed, { now: deps.now(), accountIds: [accountId] })
    changed.add('user', accountId)
    changed.add('viewer', accountId)
    const details = { from: previous, to: role }
    await recordAudit(tx, { action: 'account.role_changed', actor, subject: { kind: 'user', id: accountId }, details })
  })
}
