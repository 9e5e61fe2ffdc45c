// The accounts that might belong to the same person as an account, and the projects with the same links.
import { sql } from 'kysely'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Db } from '#platform/db/db.ts'
import { type ListedAccount, withFacts } from './queries.ts'

export const RELATIONS = ['address', 'device', 'domain', 'link'] as const
export type Relation = (typeof RELATIONS)[number]

/** Maximum number of accounts per relation, of projects, and of all accounts. A common email provider has many more. */
const EACH_MAX = 50

export type RelatedAccount = ListedAccount & { relations: Relation[] }
export type RelatedProject = { id: string; slug: string; name: string; status: string; link: string; owner_id: string }
export type Related = { accounts: RelatedAccount[]; projects: RelatedProject[] }

/** Returns the accounts with the same address range, device, email domain or links, those with most in common first. */
export async function listRelated(db: Db, accountId: string, now: Date): Promise<Related> {
  const projects = await listProjectsWithLinks(db, accountId)
  const owners = [...new Set(projects.map(({ owner_id }) => owner_id))]
  const { rows } = await sql<{ id: string; relations: Relation[] }>`
    with own as (select address_range, user_agent from account_origin where account_id = ${accountId}),
    related as (
      (select account_id as id, 'address' as relation from account_origin
        where address_range in (select address_range from own) order by at desc limit ${EACH_MAX})
      union (select account_id, 'device' from account_origin
        where user_agent in (select user_agent from own where user_agent <> '') order by at desc limit ${EACH_MAX})
      union (select id, 'domain' from account where email is not null and lower(split_part(email, '@', 2)) =
        (select lower(split_part(email, '@', 2)) from account where id = ${accountId}) order by created desc limit ${EACH_MAX})
      union (select id, 'link' from unnest(${owners}::text[]) as owner (id)))
    select id, array_agg(distinct relation order by relation) as relations
    from related join account using (id) where id <> ${accountId}
    group by id, account.created order by count(distinct relation) desc, account.created desc, id limit ${EACH_MAX}`.execute(
    db,
  )
  const ids = rows.map(({ id }) => id)
  const found: AccountRow[] =
    ids.length === 0 ? [] : await db.selectFrom('account').selectAll().where('id', 'in', ids).execute()
  const byId = new Map((await withFacts(db, found, now)).map((account) => [account.id, account]))
  const accounts = rows.flatMap(({ id, relations }) => {
    const account = byId.get(id)
    return account === undefined ? [] : [{ ...account, relations }]
  })
  return { accounts, projects }
}

/** Returns the projects of other owners that have a link of a project of the account. The index finds those with the same host. */
async function listProjectsWithLinks(db: Db, accountId: string): Promise<RelatedProject[]> {
  const { rows } = await sql<RelatedProject>`
    with own as (select id, link_urls from project join team_member using (team_id)
      where account_id = ${accountId} and is_owner),
    link as (select distinct lower(rtrim(value, '/')) as url from own, jsonb_each_text(link_urls)),
    host as (select coalesce(array_agg(distinct name), '{}') as names from own, unnest(link_hosts(link_urls)) as name)
    select project.id, slug, name, status, min(url) as link, team_member.account_id as owner_id
    from host, project join team_member on team_member.team_id = project.team_id and is_owner,
      jsonb_each_text(project.link_urls) as other join link on lower(rtrim(other.value, '/')) = url
    where link_hosts(project.link_urls) && host.names and team_member.account_id <> ${accountId}
    group by project.id, team_member.account_id order by project.published desc, project.id limit ${EACH_MAX}`.execute(
    db,
  )
  return rows
}
