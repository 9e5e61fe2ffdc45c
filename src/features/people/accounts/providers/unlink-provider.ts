import { lockAccount } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { requireSignIn } from '../sign-in/sign-in-ways.ts'
import { storeProviders } from './queries.ts'

/** Removes the link to a provider. @throws ApiError 404, like `confirmOwner` and `requireSignIn` */
export async function unlinkProvider(
  deps: AccountDeps,
  { viewer, provider, proof }: { viewer: Viewer; provider: string; proof: OwnerProof },
): Promise<void> {
  await confirmOwner(deps, viewer, proof)
  const accountId = viewer.id
  await transaction(deps, async (tx, changed) => {
    const account = await lockAccount(tx, accountId)
    const deleted = await tx
      .deleteFrom('account_provider')
      .where('account_id', '=', accountId)
      .where('provider', '=', provider)
      .returning('provider')
      .executeTakeFirst()
    if (deleted === undefined) throw notFound('link')
    requireSignIn(deps, { ...account, sign_in_providers: await storeProviders(tx, changed, accountId) })
    const subject = { kind: 'user', id: accountId } as const
    const details = { provider }
    await recordAudit(tx, { action: 'account.provider_unlinked', actor: actorOf(viewer), subject, details })
    await enqueue(tx, 'accounts.send-mail', { kind: 'provider-unlinked', account_id: accountId, name: provider })
  })
}
