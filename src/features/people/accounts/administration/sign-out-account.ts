import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'

/**
 * Ends all sessions and incomplete sign-ins of an account, immediately in every process. With `tokens`, also everything else
 * that acts for the account.
 * @throws ApiError 404, 403 for the placeholder account.
 */
export async function signOutAccount(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { name, tokens }: { name: string; tokens: boolean },
): Promise<{ id: string; username: string }> {
  const { id, username } = requireAdministrable(await getAccountByName(deps.db, name))
  await transaction(deps, async (tx, changed) => {
    await lockAccount(tx, id)
    await endAccess(tx, changed, tokens ? 'revoked' : 'signed_out', { accountId: id, now: deps.now() })
    await recordAudit(tx, { action: 'account.signed_out', actor, subject: { kind: 'user', id }, details: { tokens } })
  })
  return { id, username }
}
