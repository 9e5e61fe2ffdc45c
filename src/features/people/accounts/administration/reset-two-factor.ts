import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'
import { removeSecondFactor } from '../two-factor/switch-two-factor.ts'

/**
 * Turns off two-factor sign-in for a user who has lost the device and the backup codes. The audit log has the reason, for
 * example how the operator recognised the user. Notifies the user by email.
 * @throws ApiError 404, 403 for the placeholder account, `invalid_input` if it is not enabled.
 */
export async function resetTwoFactor(
  deps: Pick<Deps, 'db' | 'cache'>,
  actor: Actor,
  { name, reason }: { name: string; reason: string },
): Promise<{ id: string; username: string }> {
  const { id, username } = requireAdministrable(await getAccountByName(deps.db, name))
  await transaction(deps, async (tx, changed) => {
    await removeSecondFactor(tx, changed, await lockAccount(tx, id), { actor, details: { reason } })
  })
  return { id, username }
}
