// Passkeys are rows, and the row of the account has their number.
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'

/** Deletes the passkeys of a locked account that were created since a time. */
export async function deletePasskeys(
  tx: Tx,
  changed: ChangeSet,
  { accountId, since = new Date(0) }: { accountId: string; since?: Date },
): Promise<void> {
  await tx.deleteFrom('passkey').where('account_id', '=', accountId).where('created', '>=', since).execute()
  await countPasskeys(tx, changed, accountId)
}

/** Stores the number of passkeys of a locked account, and returns it. */
export async function countPasskeys(tx: Tx, changed: ChangeSet, accountId: string): Promise<number> {
  changed.add('viewer', accountId)
  const { passkey_count } = await tx
    .updateTable('account')
    .set((eb) => ({
      passkey_count: eb
        .selectFrom('passkey')
        .select((count) => count.fn.countAll<number>().as('count'))
        .where('account_id', '=', accountId),
    }))
    .where('id', '=', accountId)
    .returning('passkey_count')
    .executeTakeFirstOrThrow()
  return passkey_count
}
