import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName, usernameTaken } from '#features/people/users/queries.ts'
import { takeUsername } from '#features/people/users/take-username.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'
import { checkUsername } from '../sign-up/create-account.ts'

/**
 * Changes the username of an account on behalf of an operator without a session. The former name stays reserved for the user.
 * @throws ApiError 404, 403 for the placeholder account, `validation_error` or `conflict` naming `username`, `limit_reached`.
 */
export async function renameUser(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { name, username }: { name: string; username: string },
): Promise<{ id: string; former: string }> {
  checkUsername(username)
  const { id } = requireAdministrable(await getAccountByName(deps.db, name))
  return transaction(deps, async (tx, changed) => {
    const account = await lockAccount(tx, id)
    if (account.username === username) throw validationError('username', 'is already the name of this account')
    await takeUsername(tx, changed, { account, newName: username, now: deps.now() })
    await tx
      .updateTable('account')
      .set({ username })
      .where('id', '=', id)
      .execute()
      .catch(onUnique({ account_username_key: usernameTaken }))
    const subject = { kind: 'user', id } as const
    await recordAudit(tx, { action: 'account.changed', actor, subject, details: { fields: ['username'] } })
    changed.add('user', id)
    return { id, former: account.username }
  })
}
