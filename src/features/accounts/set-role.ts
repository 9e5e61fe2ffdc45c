import { transaction } from '#cache/transaction.ts'
import { notFound } from '#lib/errors.ts'
import type { Role } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'

/** Gives an account a role, which its tokens have from the commit on. For operators. @throws ApiError 404. */
export async function setRole(
  deps: Pick<Deps, 'db' | 'cache'>,
  { accountId, role }: { accountId: string; role: Role },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    changed.add('user', accountId)
    changed.add('viewer', accountId)
    const { numUpdatedRows } = await tx
      .updateTable('account')
      .set({ role })
      .where('id', '=', accountId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw notFound('user')
  })
}
