// Transfers the projects, organizations, versions and applications of a deleted account to the placeholder account.

import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { projectEvent, recordEvents, recordStatusEvents } from '#features/basics/events/record-event.ts'
import { insertStatusMessage } from '#features/catalogue/projects/edit/change-status.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Account, Project } from '#platform/db/schema.ts'

/** Transaction that deletes an account. */
export type Erasure = { tx: Tx; changed: ChangeSet; accountId: string }
type OwnedProject = Pick<Selectable<Project>, 'id' | 'status'>

/**
 * Ends follows and memberships, transfers everything that the account owned and published to the placeholder, and rejects
 * projects under review. The placeholder must exist, and `lockAll` must have locked the account.
 */
export async function handOver(erasure: Erasure): Promise<void> {
  const { tx, changed, accountId } = erasure
  await unfollowAll(erasure)
  const projects = await handOverTeams(erasure)
  await rejectUnderReview(erasure, projects)
  await deleteWebhooks(erasure, projects)
  await noteDeletion(tx, projects)
  const versions = await tx
    .updateTable('version')
    .set({ author_id: PLACEHOLDER_ID })
    .where('author_id', '=', accountId)
    .returning('id')
    .execute()
  const versionIds = versions.map(({ id }) => id)
  changed.addEach('version', versionIds)
  // Other users might depend on the applications.
  await tx.updateTable('oauth_client').set({ account_id: PLACEHOLDER_ID }).where('account_id', '=', accountId).execute()
}

/**
 * Locks the account, so that no new row can refer to it, and all rows that will change, so that for example no project can
 * be transferred to it. All transactions lock follows, projects, organizations, team rows and accounts in this order. Rows
 * that are added before the account is locked are locked by the second pass; if that causes a deadlock, the transaction
 * is repeated.
 */
export async function lockAll(erasure: Erasure): Promise<Selectable<Account>> {
  const { tx, accountId } = erasure
  await lockSurroundings(erasure)
  const account = await tx.selectFrom('account').selectAll().where('id', '=', accountId).forUpdate().executeTakeFirst()
  if (account === undefined) throw notFound('user')
  await lockSurroundings(erasure)
  return account
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

/** Transfers owned teams to the placeholder and ends other memberships. Returns the transferred projects. */
async function handOverTeams({ tx, changed, accountId }: Erasure): Promise<OwnedProject[]> {
  const teams = await tx
    .selectFrom('team_member')
    .select(['team_id', 'is_owner'])
    .where('account_id', '=', accountId)
    .execute()
  const owned = teams.filter((team) => team.is_owner).map(({ team_id }) => team_id)
  changed.add('team', ...teams.map(({ team_id }) => team_id))
  await recordLeaving(tx, accountId)
  await tx.deleteFrom('team_member').where('account_id', '=', accountId).where('is_owner', '=', false).execute()
  if (owned.length === 0) return []
  // The placeholder might already be a member.
  await tx.deleteFrom('team_member').where('account_id', '=', PLACEHOLDER_ID).where('team_id', 'in', owned).execute()
  // Inserts new rows instead of updating, because triggers count members on insert and delete.
  await sql`with given as (delete from team_member where account_id = ${accountId} and is_owner returning *)
    insert into team_member (team_id, account_id, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created)
    select team_id, ${PLACEHOLDER_ID}, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created
    from given`.execute(tx)
  const projects = await tx.selectFrom('project').select(['id', 'status']).where('team_id', 'in', owned).execute()
  const owner = { user_id: PLACEHOLDER_ID }
  const transfers = projects.map(({ id }) => projectEvent('project.transferred', id, { owner }))
  await recordEvents(tx, transfers)
  // Search hits contain the name of the owner.
  changed.add('project', ...projects.map(({ id }) => id))
  return projects
}

/** Records that a member who is not an owner leaves all their teams. */
async function recordLeaving(tx: Tx, accountId: string): Promise<void> {
  const left = await tx
    .selectFrom('team_member as member')
    .leftJoin('project', 'project.team_id', 'member.team_id')
    .leftJoin('organization', 'organization.team_id', 'member.team_id')
    .select(['member.role', 'project.id as project_id', 'organization.id as organization_id'])
    .where('member.account_id', '=', accountId)
    .where('member.accepted', '=', true)
    .where('member.is_owner', '=', false)
    .execute()
  await recordEvents(
    tx,
    left.map(({ role, project_id, organization_id }) => {
      const owner = project_id === null ? { organization_id: organization_id ?? '' } : { project_id }
      const subject =
        project_id === null
          ? ({ kind: 'organization', id: organization_id ?? '' } as const)
          : ({ kind: 'project', id: project_id } as const)
      return { kind: 'member.left', subject, ...owner, data: { ...owner, user_id: accountId, role } }
    }),
  )
}

/** Rejects projects under review, because no member is left to respond to the moderators. */
async function rejectUnderReview({ tx, changed }: Erasure, projects: readonly OwnedProject[]): Promise<void> {
  const underReview = projects.filter(({ status }) => status === 'processing')
  if (underReview.length === 0) return
  const ids = underReview.map(({ id }) => id)
  await tx.updateTable('project').set({ status: 'rejected' }).where('id', 'in', ids).execute()
  for (const project of underReview) {
    await insertStatusMessage(tx, { project, to: 'rejected', authorId: PLACEHOLDER_ID, hideIdentity: false })
    await recordStatusEvents(tx, { id: project.id, from: project.status, to: 'rejected' })
  }
  const versions = await tx.selectFrom('version').select('id').where('project_id', 'in', ids).execute()
  const versionIds = versions.map(({ id }) => id)
  changed.addEach('version', versionIds)
}

/** Deletes the webhooks of transferred projects that the account created: nobody is left who knows their receivers. */
async function deleteWebhooks({ tx, accountId }: Erasure, projects: readonly OwnedProject[]): Promise<void> {
  if (projects.length === 0) return
  const projectIds = projects.map(({ id }) => id)
  await tx.deleteFrom('webhook').where('created_by', '=', accountId).where('project_id', 'in', projectIds).execute()
}

/** Adds a private note for moderators that explains the owner of the projects. */
async function noteDeletion(tx: Tx, projects: readonly OwnedProject[]): Promise<void> {
  const threads = await tx
    .selectFrom('thread')
    .select('id')
    .where(sql<boolean>`project_id = any(${projects.map(({ id }) => id)}::text[])`)
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
