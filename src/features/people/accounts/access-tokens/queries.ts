import { type Selectable, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'

/** A token without its hash. The networks of its limits are texts. */
export type AccessTokenRow = Omit<Selectable<PersonalAccessToken>, 'token_hash' | 'addresses' | 'created_by'> & {
  addresses: string[] | null
}

export const TOKEN_COLUMNS = [
  'id',
  'account_id',
  'name',
  'scopes',
  'created',
  'expires',
  'last_used',
  'last_network',
  'project_ids',
  'organization_ids',
  sql<string[] | null>`addresses::text[]`.as('addresses'),
] as const

/** Returns an account's access tokens, newest first, including expired ones. */
export function listAccessTokens(db: Db, accountId: string): Promise<AccessTokenRow[]> {
  return db
    .selectFrom('personal_access_token')
    .select(TOKEN_COLUMNS)
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** A project or an organization to which an account can limit a token. */
export type TokenResource = { kind: 'project' | 'organization'; id: string; name: string }

/** Maximum number of resources that a form offers. */
const RESOURCES_MAX = 200

/** Returns the projects and organizations of which an account is a member, by name. */
export async function listTokenResources(db: Db, accountId: string): Promise<TokenResource[]> {
  const { rows } = await sql<TokenResource>`
    with teams as (select team_id from team_member where account_id = ${accountId} and accepted), own as (
      select 'organization' as kind, id, name from organization where team_id in (select team_id from teams)
      union select 'project', id, name from project where team_id in (select team_id from teams)
      union select 'project', project.id, project.name from project
        join organization on organization.id = project.organization_id
        where organization.team_id in (select team_id from teams))
    select * from own order by kind, lower(name), id limit ${RESOURCES_MAX}`.execute(db)
  return rows
}
