// What an account gives away when its deletion begins, kept so that it can be given back.
import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { TeamMember } from '#platform/db/schema.ts'

/** As it was: rows of teams and follows, IDs of the others. Times are ISO texts, as they come from JSON. */
export type HandedOver = {
  teams: (Omit<Selectable<TeamMember>, 'account_id' | 'created' | 'payouts_split'> & {
    created: string
    payouts_split: string | number
  })[]
  follows: { project_id: string; created: string }[]
  /** Those it published. */
  versions: string[]
  /** OAuth applications. */
  applications: string[]
  /** Those that others could see, with the status they had. */
  collections: { id: string; status: string }[]
}

type Giving = { tx: Tx; changed: ChangeSet; accountId: string }

/** What the account has to give away at this moment; call it with the account locked. */
export async function readBelongings(tx: Tx, accountId: string): Promise<HandedOver> {
  const { rows } = await sql<HandedOver>`select
    (select coalesce(jsonb_agg(to_jsonb(team_member) - 'account_id'), '[]') from team_member
      where account_id = ${accountId}) as teams,
    (select coalesce(jsonb_agg(jsonb_build_object('project_id', project_id, 'created', created)), '[]') from follow
      where account_id = ${accountId}) as follows,
    (select coalesce(jsonb_agg(id), '[]') from version where author_id = ${accountId}) as versions,
    (select coalesce(jsonb_agg(id), '[]') from oauth_client where account_id = ${accountId}) as applications,
    (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'status', status)), '[]') from collection
      where account_id = ${accountId} and status <> 'private') as collections`.execute(tx)
  const [belongings] = rows
  if (belongings === undefined) throw new Error('A select without a table gives a row')
  return belongings
}

/**
 * Gives back what is still as the deletion left it: memberships of teams that there are, ownership where the
 * placeholder has it, and what else belongs to the placeholder. Locks projects, organizations and teams in the order
 * in which others lock them.
 */
export async function giveBack(giving: Giving, handed: HandedOver): Promise<void> {
  await lockTargets(giving, handed)
  await giveBackTeams(giving, handed)
  await giveBackFollows(giving, handed)
  await giveBackVersions(giving, handed)
  const { tx, accountId } = giving
  await sql`update oauth_client set account_id = ${accountId}
    where id = any(${handed.applications}::text[]) and account_id = ${PLACEHOLDER_ID}`.execute(tx)
  await sql`update collection set status = former.status
    from jsonb_to_recordset(${JSON.stringify(handed.collections)}::jsonb) as former (id text, status text)
    where collection.id = former.id and collection.status = 'private'`.execute(tx)
}

async function lockTargets({ tx }: Giving, { teams, follows }: HandedOver): Promise<void> {
  const teamIds = teams.map(({ team_id }) => team_id)
  const followed = follows.map(({ project_id }) => project_id)
  await sql`select 1 from project where team_id = any(${teamIds}::text[]) or id = any(${followed}::text[])
    order by id for no key update`.execute(tx)
  await sql`select 1 from organization where team_id = any(${teamIds}::text[]) order by id for no key update`.execute(
    tx,
  )
  await sql`select 1 from team where id = any(${teamIds}::text[]) order by id for no key update`.execute(tx)
}

async function giveBackTeams({ tx, changed, accountId }: Giving, { teams }: HandedOver): Promise<void> {
  const owned = teams.filter(({ is_owner }) => is_owner).map(({ team_id }) => team_id)
  await sql`delete from team_member where account_id = ${PLACEHOLDER_ID} and is_owner
    and team_id = any(${owned}::text[])`.execute(tx)
  // Where moderators have made somebody else the owner, it stays theirs.
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
  // Search shows projects with the name of their owner.
  changed.add('project', ...projects.map(({ id }) => id))
}

async function giveBackFollows({ tx, changed, accountId }: Giving, { follows }: HandedOver): Promise<void> {
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

async function giveBackVersions({ tx, changed, accountId }: Giving, { versions }: HandedOver): Promise<void> {
  const { rows } = await sql<{ id: string }>`update version set author_id = ${accountId}
    where id = any(${versions}::text[]) and author_id = ${PLACEHOLDER_ID} returning id`.execute(tx)
  changed.addEach(
    'version',
    rows.map(({ id }) => id),
  )
}
