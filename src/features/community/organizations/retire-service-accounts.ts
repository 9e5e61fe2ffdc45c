import { readBelongings } from '#features/people/accounts/deletion/belongings.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'

/**
 * Ends the service accounts of an organization that is deleted: hides them, and deletes their tokens. The job that deletes
 * accounts then transfers their publications to the placeholder account.
 */
export async function retireServiceAccounts(
  tx: Tx,
  changed: ChangeSet,
  { organizationId, now }: { organizationId: string; now: number },
): Promise<void> {
  const accounts = await tx
    .updateTable('account')
    .set({ deletion_due: new Date(now) })
    .where('service_of', '=', organizationId)
    .where('deletion_due', 'is', null)
    .returning('id')
    .execute()
  for (const { id } of accounts) {
    const handed_over = JSON.stringify(await readBelongings(tx, id))
    const deletion = { account_id: id, requested: new Date(now), by_owner: false, handed_over }
    await tx.insertInto('account_deletion').values(deletion).execute()
    await endAccess(tx, changed, 'deleted', { accountId: id, now })
    changed.add('user', id)
    changed.add('viewer', id)
  }
  if (accounts.length > 0) await enqueue(tx, 'accounts.delete-due', {})
}
