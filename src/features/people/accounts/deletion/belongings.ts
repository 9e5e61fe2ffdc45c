// The belongings that a user loses when the deletion of the account begins, stored so that they can be restored.
import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { TeamMember } from '#platform/db/schema.ts'

/** The stored belongings. Times are ISO strings, because they come from JSON. */
export type Belongings = {
  teams: (Omit<Selectable<TeamMember>, 'account_id' | 'created' | 'payouts_split'> & {
    created: string
    payouts_split: string | number
  })[]
  follows: { project_id: string; created: string }[]
  /** IDs of the published versions. */
  versions: string[]
  /** IDs of OAuth applications. */
  applications: string[]
  /** Collections that others could see, with their status. */
  collections: { id: string; status: string }[]
}

type RestoreContext = { tx: Tx; changed: ChangeSet; accountId: string }

/** Returns the belongings of an account, which the caller has locked. */
export async function readBelongings(tx: Tx, accountId: string): Promise<Belongings> {
  const { rows } = await sql<Belongings>`select
    (select coalesce(jsonb_agg(to_jsonb(team_member) - 'account_id'), '[]') from team_member
      where account_id = ${accountId}) as teams,
    (select coalesce(jsonb_agg(jsonb_build_object('project_id', project_id, 'created', created)), '[]') from follow
      where account_id = ${accountId}) as follows,
    (select coalesce(jsonb_agg(id), '[]') from version where author_id = ${accountId}) as versions,
    (select coalesce(jsonb_agg(id), '[]') from oauth_client where account_id = ${accountId}) as applications,
    (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'status', status)), '[]') from collection
      where account_id = ${accountId} and status <> 'private') as collections`.execute(tx)
  const [belongings] = rows
  if (belongings === undefined) throw new Error('unreachable: a select without a table returns a row')
  return belongings
}

/**
 * Restores memberships of existing teams, and everything that the placeholder account still owns. Locks projects,
 * organizations and teams in the usual order.
 */
export async function restoreBelongings(context: RestoreContext, belongings: Belongings): Promise<void> {
  await lockTargets(context, belongings)
  await restoreTeams(context, belongings)
  await restoreFollows(context, belongings)
  await restoreVersions(context, belongings)
  const { tx, accountId } = context
  await sql`update oauth_client set account_id = ${accountId}
    where id = any(${belongings.applications}::text[]) and account_id = ${PLACEHOLDER_ID}`.execute(tx)
  await sql`update collection set status = former.status
    from jsonb_to_recordset(${JSON.stringify(belongings.collections)}::jsonb) as former (id text, status text)
    where collection.id = former.id and collection.status = 'private'`.execute(tx)
}

async function lockTargets({ tx }: RestoreContext, { teams, follows }: Belongings): Promise<void> {
  const teamIds = teams.map(({ team_id }) => team_id)
  const followed = follows.map(({ project_id }) => project_id)
  await sql`select 1 from project where team_id = any(${teamIds}::text[]) or id = any(${followed}::text[])
    order by id for no key update`.execute(tx)
  await sql`select 1 from organization where team_id = any(${teamIds}::text[])
    order by id for no key update`.execute(tx)
  await sql`select 1 from team where id = any(${teamIds}::text[]) order by id for no key update`.execute(tx)
}

async function restoreTeams({ tx, changed, accountId }: RestoreContext, { teams }: Belongings): Promise<void> {
  const owned = teams.filter(({ is_owner }) => is_owner).map(({ team_id }) => team_id)
  await sql`delete from team_member where account_id = ${PLACEHOLDER_ID} and is_owner
    and team_id = any(${owned}::text[])`.execute(tx)
  // If moderators have assigned another owner, that user remains the owner.
  const { rows } = await sql<{ team_id: string }>`
    insert into team_member (team_id, account_id, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created)
    select team_id, ${accountId}, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split, ordering, created
    from jsonb_populate_recordset(null::team_member, ${JSON.stringify(teams)}::jsonb) as former
    where exists (select 1 from team where team.id = former.team_id) and not (former.is_owner and exists (
      select 1 from team_member as other where other.team_id = former.team_id and other.is_owner))
    on conflict do nothing returning team_id`.execute(tx)
  const returned = rows.map(({ team_id }) => team_id)
  changed.add('team', ...returned)
  const { rows: projects } = await sql<{ id: string }>`
    select id from project where team_id = any(${returned}::text[])`.execute(tx)
  // Search results contain the name of the owner.
  changed.add('project', ...projects.map(({ id }) => id))
}

async function restoreFollows({ tx, changed, accountId }: RestoreContext, { follows }: Belongings): Promise<void> {
  const { rows } = await sql<{ project_id: string }>`
    insert into follow (account_id, project_id, created)
    select ${accountId}, former.project_id, former.created
    from jsonb_to_recordset(${JSON.stringify(follows)}::jsonb) as former (project_id text, created timestamptz)
    where exists (select 1 from project where project.id = former.project_id)
    on conflict do nothing returning project_id`.execute(tx)
  const returned = rows.map(({ project_id }) => project_id)
  await sql`update project set followers = followers + 1 where id = any(${returned}::text[])`.execute(tx)
  changed.add('project', ...returned)
}

async function restoreVersions({ tx, changed, accountId }: RestoreContext, { versions }: Belongings): Promise<void> {
  const { rows } = await sql<{ id: string }>`update version set author_id = ${accountId}
    where id = any(${versions}::text[]) and author_id = ${PLACEHOLDER_ID} returning id`.execute(tx)
  const restored = rows.map(({ id }) => id)
  changed.addEach('version', restored)
}
