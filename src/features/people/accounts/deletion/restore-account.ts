// Undoes a deletion that is pending.
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
import { giveBack, type HandedOver } from './handed-over.ts'
import { requireUndoable } from './policy.ts'
import { getDeletion } from './queries.ts'

/**
 * For operators: undoes the deletion of the account that `name` names.
 * @throws ApiError 404, `invalid_input` for an account whose deletion is not pending.
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
 * For the owner, whose password has proved right, in the transaction that holds the lock of the account: undoes the
 * deletion where `undo` says so. Does nothing where none is pending.
 * @throws ApiError 403 with `details.deletion_due` without `undo`, and for what an operator has deleted.
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

/** Whether `restoreAtSignIn` would go on. @throws ApiError as that. */
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
  // Only `hideAccount` writes the column. The lock of the account is held, where others take it last: a transaction that
  // waits for it meanwhile ends in a deadlock, and is run again.
  await giveBack({ tx, changed, accountId: id }, handed_over as HandedOver)
  await enqueue(tx, 'accounts.send-mail', { kind: 'deletion-undone', account_id: id })
  await recordAudit(tx, { action: 'account.deletion_undone', actor, subject: { kind: 'user', id } })
  changed.add('user', id)
  changed.add('viewer', id)
}
