// Deletes an account: what it owns and has published goes to the placeholder, nothing else of the person remains.

import { sql } from 'kysely'
import { lockOtherAdmins } from '#features/basics/access/accounts.ts'
import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import { ensurePlaceholder, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { type Actor, actorOf, SYSTEM } from '#features/basics/audit/actor.ts'
import { forgetAccount } from '#features/basics/audit/queries.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImagesOf } from '#features/basics/content-images/queries.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { requireDeletableUser, requireNoPlaceholder } from '#features/people/users/policy.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { removeJobsOf } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { type Erasure, handOver, lockAll, nameTokens } from './hand-over.ts'
import { hideAccount } from './hide-account.ts'

export type DeletingDeps = Deps & { confirmOwner: ConfirmOwner }

/**
 * Deletes an account; where operators leave time to undo that, hides it until then.
 * @param proof that the owner of the viewer's account asks.
 * @throws ApiError 404, 400 for the last admin, 403 for another's account unless the viewer is an admin, and for the placeholder; as
 * `ConfirmOwner`.
 */
export async function deleteAccount(
  deps: DeletingDeps,
  viewer: Viewer,
  { name, proof }: { name: string; proof: OwnerProof },
): Promise<void> {
  const account = requireDeletableUser(viewer, await getAccountByName(deps.db, name))
  await deps.confirmOwner(viewer, proof)
  const byOwner = account.id === viewer.id
  if (deps.config.accounts.deletionDays > 0) {
    await hideAccount(deps, account, { actor: actorOf(viewer), byOwner })
    return
  }
  const actor: Actor = byOwner ? { kind: 'account', id: PLACEHOLDER_ID, address: null } : actorOf(viewer)
  await deleteAccountOf(deps, account, actor)
}

/**
 * Deletes an account at once and for good, also one whose deletion is pending. For operators, who need no proof.
 * @throws ApiError 404, 400 for the last admin, 403 for the placeholder.
 */
export async function deleteAccountOf(deps: Deps, account: AccountRow, actor: Actor): Promise<void> {
  requireNoPlaceholder(account)
  await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId: account.id }
    const { role, deletion_due } = await lockAll(erasure)
    // One whose deletion is pending does not count as an admin any more.
    if (role === 'admin' && deletion_due === null) await lockOtherAdmins(tx, account.id, deps.now())
    await erase(erasure, deps.config, actor)
  })
  recordEvent(deps, 'account.deleted', { account_id: account.id })
}

/** Deletes an account for good if its deletion is due, and was not undone meanwhile. Returns whether it did. */
export async function deleteDueAccount(deps: Deps, accountId: string): Promise<boolean> {
  const isDeleted = await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId }
    const account = await lockAll(erasure)
    if (account.deletion_due === null || account.deletion_due.getTime() > deps.now()) return false
    await erase(erasure, deps.config, SYSTEM)
    return true
  })
  if (isDeleted) recordEvent(deps, 'account.deleted', { account_id: accountId })
  return isDeleted
}

async function erase(erasure: Erasure, config: Deps['config'], actor: Actor): Promise<void> {
  const { tx, changed, accountId } = erasure
  await ensurePlaceholder(tx)
  await handOver(erasure)
  await forgetPayouts(erasure)
  await eraseConversations(erasure)
  await forgetInviter(erasure)
  await removeJobsOf(tx, accountId)
  await nameTokens(erasure)
  await removeOwnPictures(erasure, config)
  await tx.deleteFrom('account').where('id', '=', accountId).execute()
  // What counts authors keeps a row at 0.
  await tx.deleteFrom('author').where('account_id', '=', accountId).where('teams', '=', 0).execute()
  await recordAudit(tx, { action: 'account.deleted', actor, subject: { kind: 'user', id: PLACEHOLDER_ID } })
  await forgetAccount(tx, accountId)
  changed.add('user', accountId, PLACEHOLDER_ID)
  changed.add('viewer', accountId)
}

/** Amounts stay in the books, without a name; where they went to goes. */
async function forgetPayouts({ tx, accountId }: Erasure): Promise<void> {
  await tx.updateTable('payout').set({ address: null }).where('account_id', '=', accountId).execute()
}

/** Reports by the account go with their threads; those about it stay. Its messages become empty places in their threads. */
async function eraseConversations({ tx, accountId }: Erasure): Promise<void> {
  await dropImagesOf(tx, accountId)
  await tx.deleteFrom('report').where('reporter_id', '=', accountId).execute()
  await tx
    .updateTable('report')
    .set({ account_id: PLACEHOLDER_ID, item_id: PLACEHOLDER_ID })
    .where('account_id', '=', accountId)
    .execute()
  await sql`update thread_message set author_id = ${PLACEHOLDER_ID}, body = case
      when body ->> 'type' = 'text'
      then jsonb_build_object('type', 'deleted', 'private', coalesce(body -> 'private', 'false'::jsonb))
      else body end
    where author_id = ${accountId}`.execute(tx)
  // Pictures that belong to nothing are removed in time; those in the texts of projects stay with these.
  await tx
    .updateTable('image')
    .set({ report_id: null, thread_message_id: null })
    .where('owner_id', '=', accountId)
    .execute()
}

/** Invitations by the account stay; the placeholder stands as the inviter. */
async function forgetInviter({ tx, accountId }: Erasure): Promise<void> {
  await sql`update notification set body = jsonb_set(body, '{invited_by}', to_jsonb(${PLACEHOLDER_ID}::text))
    where body ->> 'invited_by' = ${accountId}`.execute(tx)
}

async function removeOwnPictures({ tx, accountId }: Erasure, config: Deps['config']): Promise<void> {
  const { rows } = await sql<{ url: string | null }>`
    select unnest(array[avatar_url, raw_avatar_url]) as url from account where id = ${accountId}
    union
    select unnest(array[icon_url, raw_icon_url]) from collection where account_id = ${accountId}`.execute(tx)
  await removeImages(
    tx,
    config,
    rows.map(({ url }) => url),
  )
}
