import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { notFound } from '#lib/errors.ts'
import type { Role } from '#lib/viewer.ts'

/** Gives an account a role, which its tokens have from the commit on. @throws ApiError 404 */
export async function setRole(
  tx: Tx,
  changed: ChangeSet,
  { accountId, role }: { accountId: string; role: Role },
): Promise<void> {
  changed.add('user', accountId)
  changed.add('viewer', accountId)
  const { numUpdatedRows } = await tx
    .updateTable('account')
    .set({ role })
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('user')
}
