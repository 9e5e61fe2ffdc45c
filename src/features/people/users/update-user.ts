import type { Selectable, Updateable } from 'kysely'
import { lockAccount, lockOtherAdmins } from '#features/basics/access/accounts.ts'
import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import { requireApproved } from '#features/basics/access/email-policy.ts'
import type { EndLostAccess } from '#features/basics/access/end-lost-access.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Account } from '#platform/db/schema.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditableUser, requireNameGiver, requireOwnUser, requirePerson, requireRankGiver } from './policy.ts'
import { readUserView } from './private-view.ts'
import { getAccountByName, usernameTaken } from './queries.ts'
import type { UserPatch } from './requests.ts'
import { takeUsername } from './take-username.ts'

const columns = {
  username: (username) => (username === null ? {} : { username }),
  bio: (bio) => ({ bio }),
  role: (role) => (role === null ? {} : { role }),
  badges: (badges) => (badges === null ? {} : { badges }),
  payout_handle: (payout_handle) => ({ payout_handle }),
  allow_friend_requests: (allow) => (allow === null ? {} : { allow_friend_requests: allow }),
  language: (language) => (language === null ? {} : { language }),
} satisfies PatchColumns<UserPatch, Updateable<Account>>

export type UpdatingDeps = Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'now' | 'config'> & {
  confirmOwner: ConfirmOwner
  endLostAccess: EndLostAccess
}

type UserEdit = {
  name: string
  patch: UserPatch
  proof?: OwnerProof
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * Edits a user. If a field is invalid, nothing is saved. A change of the role, the badges or the payout handle
 * requires `proof`.
 * @throws ApiError 404, 403 for fields that the viewer cannot change, `conflict` naming `username`, 400 for the role of
 * the last admin, `conflict` for an outdated revision, and like `ConfirmOwner`.
 */
export async function updateUser(deps: UpdatingDeps, viewer: Viewer, edit: UserEdit): Promise<void> {
  const { id } = requireEditableUser(viewer, await getAccountByName(deps.db, edit.name))
  await withCurrentState(
    deps,
    () => saveUser(deps, viewer, { ...edit, id }),
    (reader) => readUserView(reader, viewer, id),
  )
}

async function saveUser(
  deps: UpdatingDeps,
  viewer: Viewer,
  { id, patch, proof = {}, revision }: UserEdit & { id: string },
): Promise<void> {
  const update: Updateable<Account> = toColumns(patch, columns)
  const isRank = update.role !== undefined || update.badges !== undefined
  if (isRank) requireRankGiver(viewer)
  // Everyone sees the name and the text.
  if (update.bio !== undefined || update.username !== undefined) requireApproved(viewer)
  if (update.payout_handle !== undefined) requireOwnUser(viewer, { id })
  if (isRank || update.payout_handle !== undefined) await deps.confirmOwner(viewer, proof)
  if (Object.keys(update).length === 0 && revision === undefined) return
  await transaction(deps, async (tx, changed) => {
    const locked = await lockAccount(tx, id)
    if (update.role !== undefined) requirePerson(locked)
    requireRevision(locked, revision)
    if (Object.keys(update).length === 0) return
    if (locked.role === 'admin' && update.role !== undefined && update.role !== 'admin')
      await lockOtherAdmins(tx, id, deps.now())
    const newName = update.username === locked.username ? undefined : update.username
    if (newName !== undefined) {
      requireNameGiver(viewer, locked)
      await takeUsername(tx, changed, { account: locked, newName, now: deps.now() })
    }
    await tx
      .updateTable('account')
      .set(update)
      .where('id', '=', id)
      .execute()
      .catch(onUnique({ account_username_key: usernameTaken }))
    await recordChange(tx, viewer, { before: locked, update })
    changed.add('user', id)
    if (update.role !== undefined) {
      await deps.endLostAccess(tx, changed, { now: deps.now(), accountIds: [id] })
      changed.add('viewer', id)
    }
  })
  const isByAdmin = isRank || update.payout_handle !== undefined
  if (isByAdmin && id !== viewer.id)
    recordEvent(deps, 'account.changed_by_admin', { account_id: id, admin_id: viewer.id })
}

/** Adds audit entries for changes that concern security or money. */
async function recordChange(
  tx: Tx,
  viewer: Viewer,
  { before, update }: { before: Selectable<Account>; update: Updateable<Account> },
): Promise<void> {
  const entry = { actor: actorOf(viewer), subject: { kind: 'user', id: before.id } } as const
  if (update.role !== undefined && update.role !== before.role)
    await recordAudit(tx, { ...entry, action: 'account.role_changed', details: { from: before.role, to: update.role } })
  // A changed bio is of interest only if another user changed it.
  const audited: ('username' | 'badges' | 'payout_handle' | 'bio')[] = ['username', 'badges', 'payout_handle']
  if (viewer.id !== before.id) audited.push('bio')
  const fields = audited.filter((field) => update[field] !== undefined && update[field] !== before[field])
  if (fields.length > 0) await recordAudit(tx, { ...entry, action: 'account.changed', details: { fields } })
}
