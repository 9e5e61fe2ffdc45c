// Deletes an account: its projects and versions go to the placeholder account, everything else is deleted.

import { sql } from 'kysely'
import { lockOtherAdmins } from '#features/basics/access/accounts.ts'
import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import { ensurePlaceholder, PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf, SYSTEM } from '#features/basics/audit/actor.ts'
import { forgetAccount } from '#features/basics/audit/queries.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImagesOf } from '#features/basics/content-images/queries.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { requireDeletableUser, requireNoPlaceholder } from '#features/people/users/policy.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { removeJobsOf } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { type Erasure, handOver, lockAll } from './hand-over.ts'
import { hideAccount } from './hide-account.ts'

export type DeletingDeps = Deps & { confirmOwner: ConfirmOwner }

/**
 * Deletes an account. If `ACCOUNT_DELETION_DAYS` is set, hides the account until the deletion is due.
 * @param proof Proof that the owner of the viewer's account sends the request.
 * @param reason Reason for the audit log.
 * @throws ApiError 404; 400 for the last admin; 403 for the placeholder and, unless the viewer is an admin, for other
 * accounts; the errors of `ConfirmOwner`.
 */
export async function deleteAccount(
  deps: DeletingDeps,
  viewer: Viewer,
  { name, proof, reason }: { name: string; proof: OwnerProof; reason?: string | undefined },
): Promise<void> {
  const account = requireDeletableUser(viewer, await getAccountByName(deps.db, name))
  await deps.confirmOwner(viewer, proof)
  const byOwner = account.id === viewer.id
  if (deps.config.accounts.deletionDays > 0) {
    await hideAccount(deps, account, { actor: actorOf(viewer), byOwner, reason })
    return
  }
  const actor: Actor = byOwner ? { kind: 'account', id: PLACEHOLDER_ID, address: null } : actorOf(viewer)
  await deleteAccountOf(deps, account, actor, reason)
}

/**
 * Deletes an account immediately and permanently, also if its deletion is pending. For operators, who need no proof. Without
 * an actor, the caller records the deletion in the audit log.
 * @throws ApiError 404, 400 for the last admin, 403 for the placeholder.
 */
export async function deleteAccountOf(deps: Deps, account: AccountRow, actor?: Actor, reason?: string): Promise<void> {
  requireNoPlaceholder(account)
  await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId: account.id }
    const { role, deletion_due } = await lockAll(erasure)
    // An admin whose deletion is pending no longer counts as an admin.
    if (role === 'admin' && deletion_due === null) await lockOtherAdmins(tx, account.id, deps.now())
    await erase(erasure, { actor, reason, now: deps.now() })
  })
  recordEvent(deps, 'account.deleted', { account_id: account.id })
}

/** Checks that an account can be deleted, and changes nothing. @throws ApiError like `deleteAccountOf` */
export async function requireDeletable(deps: Deps, account: AccountRow): Promise<void> {
  requireNoPlaceholder(account)
  if (account.role !== 'admin' || account.deletion_due !== null) return
  await transaction(deps, (tx) => lockOtherAdmins(tx, account.id, deps.now()))
}

/** Deletes an account permanently if its deletion is due and was not undone. Returns whether the account was deleted. */
export async function deleteDueAccount(deps: Deps, accountId: string): Promise<boolean> {
  const isDeleted = await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId }
    const account = await lockAll(erasure)
    if (account.deletion_due === null || account.deletion_due.getTime() > deps.now()) return false
    await erase(erasure, { actor: SYSTEM, now: deps.now() })
    return true
  })
  if (isDeleted) recordEvent(deps, 'account.deleted', { account_id: accountId })
  return isDeleted
}

async function erase(
  erasure: Erasure,
  { actor, reason, now }: { actor: Actor | undefined; reason?: string | undefined; now: number },
): Promise<void> {
  const { tx, changed, accountId } = erasure
  await ensurePlaceholder(tx)
  await handOver(erasure)
  // The amounts remain, without the name of the account.
  await tx.updateTable('payout').set({ address: null }).where('account_id', '=', accountId).execute()
  await eraseConversations(erasure)
  await sql`update notification set body = jsonb_set(body, '{invited_by}', to_jsonb(${PLACEHOLDER_ID}::text))
    where body ->> 'invited_by' = ${accountId}`.execute(tx)
  await forgetInEvents(erasure)
  await removeJobsOf(tx, accountId)
  await endAccess(tx, changed, 'deleted', { accountId, now })
  await removeOwnPictures(erasure)
  await tx.deleteFrom('account').where('id', '=', accountId).execute()
  // The counter of authors leaves a row with the value 0.
  await tx.deleteFrom('author').where('account_id', '=', accountId).where('teams', '=', 0).execute()
  const subject = { kind: 'user', id: PLACEHOLDER_ID } as const
  const details = reason === undefined ? {} : { reason }
  if (actor !== undefined) await recordAudit(tx, { action: 'account.deleted', actor, subject, details })
  await forgetAccount(tx, accountId)
  changed.add('user', accountId, PLACEHOLDER_ID)
  changed.add('viewer', accountId)
}

/** Replaces the account in events that webhooks have not received yet, and in those that can be sent again. */
async function forgetInEvents({ tx, accountId }: Erasure): Promise<void> {
  await sql`update event set
      subject_id = case when subject_id = ${accountId} then ${PLACEHOLDER_ID} else subject_id end,
      account_ids = array_remove(account_ids, ${accountId}),
      data = replace(data::text, ${`"${accountId}"`}, ${`"${PLACEHOLDER_ID}"`})::jsonb
    where subject_id = ${accountId} or account_ids @> array[${accountId}] or strpos(data::text, ${`"${accountId}"`}) > 0`.execute(
    tx,
  )
}

/** Deletes the account's reports and their threads, anonymises reports about the account, and empties its messages. */
async function eraseConversations({ tx, accountId }: Erasure): Promise<void> {
  await dropImagesOf(tx, accountId)
  await tx.deleteFrom('report').where('reporter_id', '=', accountId).execute()
  // They contain the text of the profile and the name of a collection.
  await sql`delete from takedown where (kind = 'user' and target = ${accountId})
    or before #>> '{collection,owner_id}' = ${accountId}`.execute(tx)
  await sql`delete from report_snapshot using report
    where report.id = report_snapshot.report_id and report.account_id = ${accountId}`.execute(tx)
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
  // A job deletes images without a target. Images in the texts of projects remain.
  await tx
    .updateTable('image')
    .set({ report_id: null, thread_message_id: null })
    .where('owner_id', '=', accountId)
    .execute()
}

async function removeOwnPictures({ tx, accountId }: Erasure): Promise<void> {
  const { rows } = await sql<{ key: string | null }>`
    select unnest(array[avatar_url, raw_avatar_url]) as key from account where id = ${accountId}
    union
    select unnest(array[icon_url, raw_icon_url]) from collection where account_id = ${accountId}`.execute(tx)
  const keys = rows.map(({ key }) => key)
  await removeImages(tx, keys)
}
