import type { Selectable } from 'kysely'
import { lockAccountOrLeaving } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Account } from '#platform/db/schema.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { requireUndoable } from '../policy.ts'
import { type Belongings, restoreBelongings } from './belongings.ts'
import { getDeletion } from './queries.ts'

/**
 * Undoes a pending deletion on behalf of an operator.
 * @throws ApiError 404, `invalid_input` if no deletion is pending.
 */
export async function restoreAccount(
  deps: Pick<Deps, 'db' | 'cache'>,
  actor: Actor,
  name: string,
): Promise<{ id: string; username: string }> {
  const { id, username } = await getAccountByName(deps.db, name, { withLeaving: true })
  await transaction(deps, async (tx, changed) => {
    const account = await lockAccountOrLeaving(tx, id)
    if (account.deletion_due === null) throw invalidInput('The deletion of this account is not pending')
    await restore(tx, changed, { account, actor })
  })
  return { id, username }
}

/**
 * Undoes a pending deletion, if any, when the owner signs in. The account must be locked and the password verified.
 * @throws ApiError 403 with `details.deletion_due` without `undo`, or if an operator deleted the account.
 */
export async function restoreAtSignIn(
  tx: Tx,
  changed: ChangeSet,
  { account, actor, undo }: { account: Selectable<Account>; actor: Actor; undo: boolean },
): Promise<void> {
  if (account.deletion_due === null) return
  await requireUndoing(tx, account, undo)
  await restore(tx, changed, { account, actor })
}

/** Checks the conditions of `restoreAtSignIn`. @throws ApiError like `restoreAtSignIn`. */
export async function requireUndoing(tx: Tx, account: Selectable<Account>, undo: boolean): Promise<void> {
  if (account.deletion_due === null) return
  const { by_owner: byOwner } = await getDeletion(tx, account.id)
  requireUndoable({ due: account.deletion_due, byOwner, undo })
}

async function restore(
  tx: Tx,
  changed: ChangeSet,
  { account: { id }, actor }: { account: Pick<Selectable<Account>, 'id'>; actor: Actor },
): Promise<void> {
  const { handed_over } = await getDeletion(tx, id)
  await tx.updateTable('account').set({ deletion_due: null }).where('id', '=', id).execute()
  await tx.deleteFrom('account_deletion').where('account_id', '=', id).execute()
  // Only `hideAccount` writes the column. Other transactions lock the account last, so that they can deadlock with this
  // one. They are then repeated.
  await restoreBelongings({ tx, changed, accountId: id }, handed_over as Belongings)
  await enqueue(tx, 'accounts.send-mail', { kind: 'deletion-undone', account_id: id })
  await recordAudit(tx, { action: 'account.deletion_undone', actor, subject: { kind: 'user', id } })
  changed.add('user', id)
  changed.add('viewer', id)
}
