import { hasSecondFactor, lockAccount, lockOtherProtectedAdmins } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { countPasskeys } from '#features/people/revocation/delete-passkeys.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { requireSignIn } from '../sign-in/sign-in-ways.ts'
import { endSecondFactor } from '../two-factor/codes.ts'

/**
 * Deletes a passkey and notifies the user by email. The last passkey of an account without an authenticator app turns
 * two-factor sign-in off.
 * @throws ApiError 404, like `confirmOwner`, `lockOtherProtectedAdmins` and `requireSignIn`
 */
export async function deletePasskey(
  deps: AccountDeps,
  { viewer, id, proof }: { viewer: Viewer; id: string; proof: OwnerProof },
): Promise<void> {
  await confirmOwner(deps, viewer, proof)
  const accountId = viewer.id
  await transaction(deps, async (tx, changed) => {
    const account = await lockAccount(tx, accountId)
    const deleted = await tx
      .deleteFrom('passkey')
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .returning('name')
      .executeTakeFirst()
    if (deleted === undefined) throw notFound('passkey')
    const rest = { ...account, passkey_count: await countPasskeys(tx, changed, accountId) }
    requireSignIn(deps, rest)
    if (!hasSecondFactor(rest)) {
      if (account.role === 'admin') await lockOtherProtectedAdmins(tx, accountId, deps.now())
      await endSecondFactor(tx, accountId)
    }
    await enqueue(tx, 'accounts.send-mail', { kind: 'passkey-removed', account_id: accountId, name: deleted.name })
    const subject = { kind: 'user', id: accountId } as const
    const details = { passkey: id }
    await recordAudit(tx, { action: 'account.passkey_removed', actor: actorOf(viewer), subject, details })
  })
}
