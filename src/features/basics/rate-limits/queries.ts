// Queries of the request rates that operators grant to tokens and IP ranges.
import { sql } from 'kysely'
import { ApiError, notFound } from '#lib/errors.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { GrantSubject } from './requests.ts'

/** Maximum number of grants. Every process caches all of them and compares each request with every range. */
export const GRANTS_MAX = 1000

export type GrantRow = {
  id: string
  token_id: string | null
  /** `192.0.2.0/24`; a single IP address ends in /32 or /128. */
  address_range: string | null
  requests_per_minute: number
  note: string
  created: Date
  /** Owner of the token; null for a range and for a deleted token. */
  account_id: string | null
}

/** Returns all grants, oldest first. */
export async function listGrants(db: Db): Promise<GrantRow[]> {
  return (await readGrants().execute(db)).rows
}

/** @throws ApiError 404. */
export async function getGrant(db: Db, id: string): Promise<GrantRow> {
  const { rows } = await readGrants(id).execute(db)
  if (rows[0] === undefined) throw notFound('rate limit')
  return rows[0]
}

function readGrants(id: string | null = null) {
  return sql<GrantRow>`
    select rate_limit_grant.id, token_id, address_range::text as address_range, requests_per_minute, note,
      rate_limit_grant.created, token.account_id
    from rate_limit_grant left join (
      select id, account_id from personal_access_token
      union all select id, account_id from session
      union all select id, account_id from oauth_token
    ) token on token.id = rate_limit_grant.token_id
    where ${id}::text is null or rate_limit_grant.id = ${id}
    order by rate_limit_grant.created, rate_limit_grant.id`
}

export function countGrants(db: Db): Promise<number> {
  return countRows(db.selectFrom('rate_limit_grant'))
}

type NewGrant = { id: string; subject: GrantSubject; requestsPerMinute: number; note: string; created: Date }

/** Inserts a grant. Stores a range as its network: `192.0.2.7/24` as `192.0.2.0/24`. @throws ApiError `conflict`. */
export async function insertGrant(tx: Tx, grant: NewGrant): Promise<void> {
  const { id, subject, requestsPerMinute, note, created } = grant
  const taken = (field: string) => () =>
    new ApiError('conflict', 'This token or range already has a rate limit', {
      details: { field, message: 'is taken' },
    })
  const range = 'addressRange' in subject ? subject.addressRange : null
  await tx
    .insertInto('rate_limit_grant')
    .values({
      id,
      token_id: 'tokenId' in subject ? subject.tokenId : null,
      address_range: sql`network(${range}::inet)::cidr`,
      requests_per_minute: requestsPerMinute,
      note,
      created,
    })
    .execute()
    .catch(
      onUnique({ rate_limit_grant_token_key: taken('token_id'), rate_limit_grant_range_key: taken('address_range') }),
    )
}

/** Deletes a grant; returns whether it existed. */
export async function deleteGrant(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('rate_limit_grant').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Returns whether an ID belongs to a personal access token, a session or an OAuth token. */
export async function existsToken(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from personal_access_token where id = ${id}
    union all select 1 from session where id = ${id}
    union all select 1 from oauth_token where id = ${id}`.execute(db)
  return rows.length > 0
}
