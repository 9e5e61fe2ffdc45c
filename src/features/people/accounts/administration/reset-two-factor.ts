import { hasSecondFactor, lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { deletePasskeys } from '#features/people/revocation/delete-passkeys.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'
import { notOn, removeSecondFactor } from '../two-factor/switch-two-factor.ts'

/**
 * Turns off two-factor sign-in and deletes the passkeys of a user who has lost the device and the backup codes. The audit log has the reason, for
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
    const account = await lockAccount(tx, id)
    if (!hasSecondFactor(account)) throw notOn()
    await deletePasskeys(tx, changed, { accountId: id })
    await removeSecondFactor(tx, changed, id, { actor, details: { reason } })
  })
  return { id, username }
}
