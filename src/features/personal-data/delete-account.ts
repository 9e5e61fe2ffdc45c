// Deletes an account: what it owns and has published goes to the placeholder, nothing else of the person remains.

import { type Selectable, sql } from 'kysely'
import type { ChangeSet } from '#cache/changes.ts'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import type { Project } from '#db/schema.ts'
import { lockOtherAdmins } from '#features/access/accounts.ts'
import type { ConfirmOwner, OwnerProof } from '#features/access/confirm-owner.ts'
import { ensurePlaceholder, PLACEHOLDER_ID } from '#features/access/placeholder.ts'
import { actorOf } from '#features/audit/actor.ts'
import { forgetAccount } from '#features/audit/queries.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import { dropImagesOf } from '#features/content-images/queries.ts'
import { removePictures } from '#features/pictures/icons.ts'
import { insertStatusMessage } from '#features/projects/edit/change-status.ts'
import { requireDeletableUser } from '#features/users/policy.ts'
import { getAccountByName } from '#features/users/queries.ts'
import { removeJobsOf } from '#jobs/queue.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'

type Erasure = { tx: Tx; changed: ChangeSet; accountId: string }
type OwnedProject = Pick<Selectable<Project>, 'id' | 'status'>

export type DeletingDeps = Deps & { confirmOwner: ConfirmOwner }

/**
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
  await transaction(deps, async (tx, changed) => {
    const erasure = { tx, changed, accountId: account.id }
    await lockAll(erasure)
    if (account.role === 'admin') await lockOtherAdmins(tx, account.id, deps.now())
    await ensurePlaceholder(tx)
    await unfollowAll(erasure)
    const projects = await handOverTeams(erasure)
    await rejectUnderReview(erasure, projects)
    await noteDeletion(tx, projects)
    await handOverWorks(erasure)
    await handOverApplications(erasure)
    await forgetPayouts(erasure)
    await eraseConversations(erasure)
    await forgetInviter(erasure)
    await removeJobsOf(tx, account.id)
    await nameTokens(erasure)
    await removeOwnPictures(erasure, deps.config)
    await tx.deleteFrom('account').where('id', '=', account.id).execute()
    // What counts authors keeps a row at 0.
    await tx.deleteFrom('author').where('account_id', '=', account.id).where('teams', '=', 0).execute()
    const isOwn = account.id === viewer.id
    await recordAudit(tx, {
      action: 'account.deleted',
      actor: isOwn ? { kind: 'account', id: PLACEHOLDER_ID, address: null } : actorOf(viewer),
      subject: { kind: 'user', id: PLACEHOLDER_ID },
    })
    await forgetAccount(tx, account.id)
    changed.add('user', account.id, PLACEHOLDER_ID)
    changed.add('viewer', account.id)
  })
  recordEvent(deps, 'account.deleted', { account_id: account.id })
}

/**
 * Locks the account, so that no new row can refer to it, and around it all that is about to change, so that for
 * instance no ownership can be handed to it meanwhile. Other transactions lock follows, projects, organizations, team
 * rows and accounts in this order; what came between the first look and the lock of the account is locked by the second
 * look. A transaction that holds those locks in the opposite order ends in a deadlock, and is run again.
 */
async function lockAll(erasure: Erasure): Promise<void> {
  const { tx, accountId } = erasure
  await lockSurroundings(erasure)
  const account = await tx.selectFrom('account').select('id').where('id', '=', accountId).forUpdate().executeTakeFirst()
  if (account === undefined) throw notFound('user')
  await lockSurroundings(erasure)
}

async function lockSurroundings({ tx, accountId }: Erasure): Promise<void> {
  const teams = tx.selectFrom('team_member').select('team_id').where('account_id', '=', accountId)
  const followed = tx.selectFrom('follow').select('project_id').where('account_id', '=', accountId)
  await followed.orderBy('project_id').forUpdate().execute()
  await tx
    .selectFrom('project')
    .select('id')
    .where((eb) => eb.or([eb('team_id', 'in', teams), eb('id', 'in', followed)]))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  await tx
    .selectFrom('organization')
    .select('id')
    .where('team_id', 'in', teams)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  await teams.orderBy('team_id').forUpdate().execute()
}

async function unfollowAll({ tx, changed, accountId }: Erasure): Promise<void> {
  const follows = await tx.deleteFrom('follow').where('account_id', '=', accountId).returning('project_id').execute()
  const projectIds = follows.map(({ project_id }) => project_id)
  await sql`update project set followers = followers - 1 where id = any(${projectIds}::text[])`.execute(tx)
  for (const id of projectIds) changed.add('project', id)
}

/** The placeholder owns what the account owned; other memberships end. Returns the projects that changed hands. */
async function handOverTeams({ tx, changed, accountId }: Erasure): Promise<OwnedProject[]> {
  const teams = await tx
    .selectFrom('team_member')
    .select(['team_id', 'is_owner'])
    .where('account_id', '=', accountId)
    .execute()
  const owned = teams.filter((team) => team.is_owner).map(({ team_id }) => team_id)
  changed.add('team', ...teams.map(({ team_id }) => team_id))
  if (owned.length === 0) return []
  // It may have been invited to one of them.
  await tx.deleteFrom('team_member').where('account_id', '=', PLACEHOLDER_ID).where('team_id', 'in', owned).execute()
  // New rows instead of changed ones: members are counted as they come and go.
  await sql`with given as (delete from team_member where account_id = ${accountId} and is_owner returning *)
    insert into team_member (team_id, account_id, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created)
    select team_id, ${PLACEHOLDER_ID}, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created
    from given`.execute(tx)
  const projects = await tx.selectFrom('project').select(['id', 'status']).where('team_id', 'in', owned).execute()
  // Search shows projects with the name of their owner.
  changed.add('project', ...projects.map(({ id }) => id))
  return projects
}

/** Nobody is left to answer the moderators. */
async function rejectUnderReview({ tx, changed }: Erasure, projects: readonly OwnedProject[]): Promise<void> {
  const underReview = projects.filter(({ status }) => status === 'processing')
  if (underReview.length === 0) return
  const ids = underReview.map(({ id }) => id)
  await tx.updateTable('project').set({ status: 'rejected' }).where('id', 'in', ids).execute()
  for (const project of underReview) {
    await insertStatusMessage(tx, { project, to: 'rejected', authorId: PLACEHOLDER_ID, hideIdentity: false })
  }
  const versions = await tx.selectFrom('version').select('id').where('project_id', 'in', ids).execute()
  changed.addEach(
    'version',
    versions.map(({ id }) => id),
  )
}

/** A note for moderators alone: why the projects have this owner. */
async function noteDeletion(tx: Tx, projects: readonly OwnedProject[]): Promise<void> {
  if (projects.length === 0) return
  const threads = await tx
    .selectFrom('thread')
    .select('id')
    .where(
      'project_id',
      'in',
      projects.map(({ id }) => id),
    )
    .execute()
  if (threads.length === 0) return
  const body = JSON.stringify({
    type: 'text',
    body: 'The owner of this project has deleted their account.',
    private: true,
    replying_to: null,
    associated_images: [],
  })
  await tx
    .insertInto('thread_message')
    .values(threads.map(({ id }) => ({ id: newId(), thread_id: id, author_id: PLACEHOLDER_ID, body })))
    .execute()
}

/** The versions it published, and the applications that others may have come to rely on. */
async function handOverWorks({ tx, changed, accountId }: Erasure): Promise<void> {
  const versions = await tx
    .updateTable('version')
    .set({ author_id: PLACEHOLDER_ID })
    .where('author_id', '=', accountId)
    .returning('id')
    .execute()
  changed.addEach(
    'version',
    versions.map(({ id }) => id),
  )
}

/** Amounts stay in the books, without a name; where they went to goes. */
async function forgetPayouts({ tx, accountId }: Erasure): Promise<void> {
  await tx.updateTable('payout').set({ address: null }).where('account_id', '=', accountId).execute()
}

/** Applications stay for those who use them. */
async function handOverApplications({ tx, accountId }: Erasure): Promise<void> {
  await tx.updateTable('oauth_client').set({ account_id: PLACEHOLDER_ID }).where('account_id', '=', accountId).execute()
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

/** Sessions and tokens go with the account's row; caches are notified of each, and the rates granted to them go. */
async function nameTokens({ tx, changed, accountId }: Erasure): Promise<void> {
  const { rows } = await sql<{ id: string; hash: string }>`
    select id, encode(token_hash, 'hex') as hash from session where account_id = ${accountId}
    union all
    select id, encode(token_hash, 'hex') from personal_access_token where account_id = ${accountId}
    union all
    select id, encode(token_hash, 'hex') from oauth_token where account_id = ${accountId}`.execute(tx)
  changed.add('token', ...rows.map(({ hash }) => hash))
  await sql`delete from rate_limit_grant where token_id = any(${rows.map(({ id }) => id)}::text[])`.execute(tx)
}

async function removeOwnPictures({ tx, accountId }: Erasure, config: Deps['config']): Promise<void> {
  const { rows } = await sql<{ url: string | null }>`
    select unnest(array[avatar_url, raw_avatar_url]) as url from account where id = ${accountId}
    union
    select unnest(array[icon_url, raw_icon_url]) from collection where account_id = ${accountId}`.execute(tx)
  await removePictures(
    tx,
    config,
    rows.map(({ url }) => url),
  )
}
