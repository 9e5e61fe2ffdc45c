// What an account that goes gives away: its projects, organizations, versions and applications, to the placeholder.

import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { insertStatusMessage } from '#features/catalogue/projects/edit/change-status.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Account, Project } from '#platform/db/schema.ts'

/** One transaction that takes an account away. */
export type Erasure = { tx: Tx; changed: ChangeSet; accountId: string }
type OwnedProject = Pick<Selectable<Project>, 'id' | 'status'>

/**
 * Ends follows and memberships; what the account owned and published goes to the placeholder, which must be there.
 * Projects under review are rejected. The account is locked by `lockAll` before.
 */
export async function handOver(erasure: Erasure): Promise<void> {
  await unfollowAll(erasure)
  const projects = await handOverTeams(erasure)
  await rejectUnderReview(erasure, projects)
  await noteDeletion(erasure.tx, projects)
  await handOverWorks(erasure)
  await handOverApplications(erasure)
}

/**
 * Locks the account, so that no new row can refer to it, and around it all that is about to change, so that for
 * instance no ownership can be handed to it meanwhile. Other transactions lock follows, projects, organizations, team
 * rows and accounts in this order; what came between the first look and the lock of the account is locked by the second
 * look. A transaction that holds those locks in the opposite order ends in a deadlock, and is run again.
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

/** The placeholder owns what the account owned; other memberships end. Returns the projects that changed hands. */
async function handOverTeams({ tx, changed, accountId }: Erasure): Promise<OwnedProject[]> {
  const teams = await tx
    .selectFrom('team_member')
    .select(['team_id', 'is_owner'])
    .where('account_id', '=', accountId)
    .execute()
  const owned = teams.filter((team) => team.is_owner).map(({ team_id }) => team_id)
  changed.add('team', ...teams.map(({ team_id }) => team_id))
  await tx.deleteFrom('team_member').where('account_id', '=', accountId).where('is_owner', '=', false).execute()
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

/** Applications stay for those who use them. */
async function handOverApplications({ tx, accountId }: Erasure): Promise<void> {
  await tx.updateTable('oauth_client').set({ account_id: PLACEHOLDER_ID }).where('account_id', '=', accountId).execute()
}

/** Caches are notified of each session and token, and the rates granted to them go; so do they, with the account's row. */
export async function nameTokens({ tx, changed, accountId }: Erasure): Promise<void> {
  const { rows } = await sql<{ id: string; hash: string }>`
    select id, encode(token_hash, 'hex') as hash from session where account_id = ${accountId}
    union all
    select id, encode(token_hash, 'hex') from personal_access_token where account_id = ${accountId}
    union all
    select id, encode(token_hash, 'hex') from oauth_token where account_id = ${accountId}`.execute(tx)
  changed.add('token', ...rows.map(({ hash }) => hash))
  await sql`delete from rate_limit_grant where token_id = any(${rows.map(({ id }) => id)}::text[])`.execute(tx)
}
