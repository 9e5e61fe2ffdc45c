// The first step of a deletion that can be undone: hides the account, and stores what it owned.

import { lockOtherAdmins } from '#features/basics/access/accounts.ts'
import { ensurePlaceholder } from '#features/basics/access/placeholder.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { readBelongings } from '#features/people/accounts/deletion/belongings.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { requireNoPlaceholder } from '#features/people/users/policy.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { notFound } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { handOver, lockAll } from './hand-over.ts'

/**
 * Hides an account until its deletion is due, after `ACCOUNT_DELETION_DAYS`. Ends what acts for it, makes its
 * collections private, and transfers and records what it owns and follows, so that `restoreAccount` can return it. The
 * name and the email address stay reserved. Notifies the user by email. Returns when the deletion is due.
 * @throws ApiError 404, also if the account is hidden; 400 for the last admin; 403 for the placeholder.
 */
export async function hideAccount(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  account: AccountRow,
  { actor, byOwner, reason }: { actor: Actor; byOwner: boolean; reason?: string | undefined },
): Promise<Date> {
  requireNoPlaceholder(account)
  const accountId = account.id
  const now = deps.now()
  const due = new Date(now + deps.config.accounts.deletionDays * DAY_MS)
  await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId }
    const { role, deletion_due } = await lockAll(erasure)
    if (deletion_due !== null) throw notFound('user')
    if (role === 'admin') await lockOtherAdmins(tx, accountId, now)
    await ensurePlaceholder(tx)
    const handed_over = JSON.stringify(await readBelongings(tx, accountId))
    const deletion = { account_id: accountId, requested: new Date(now), by_owner: byOwner, handed_over }
    await tx.insertInto('account_deletion').values(deletion).execute()
    await handOver(erasure)
    await tx.updateTable('collection').set({ status: 'private' }).where('account_id', '=', accountId).execute()
    // Links that undo a change of the email address stay valid: an attacker might have changed it and deleted the account.
    await endAccess(tx, changed, 'deleted', { accountId, now })
    await tx.updateTable('account').set({ deletion_due: due }).where('id', '=', accountId).execute()
    await enqueue(tx, 'accounts.send-mail', { kind: 'deletion-pending', account_id: accountId })
    const subject = { kind: 'user', id: accountId } as const
    const details = { due: due.toISOString(), ...(reason === undefined ? {} : { reason }) }
    await recordAudit(tx, { action: 'account.deletion_requested', actor, subject, details })
    changed.add('user', accountId)
    changed.add('viewer', accountId)
  })
  return due
}
