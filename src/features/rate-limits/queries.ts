// Higher request rates for one token or for an address range, as rows.
import { isIP } from 'node:net'
import { sql } from 'kysely'
import type { Db, Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import { ApiError, invalidInput, notFound, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'

/** Every process keeps all of them in memory and walks the ranges at each request. */
export const GRANTS_MAX = 1000

export type GrantRow = {
  id: string
  token_id: string | null
  /** `192.0.2.0/24`; a single address ends in /32 or /128. */
  address_range: string | null
  requests_per_minute: number
  note: string
  created: Date
  /** Whose token it is; null for a range, and for a token that is gone. */
  account_id: string | null
}

export type NewGrant = {
  tokenId: string | undefined
  addressRange: string | undefined
  requestsPerMinute: number
  note: string
  now: number
}

/** All grants, the oldest first. */
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

/**
 * Returns the ID of the new grant. A range is kept as its network: `192.0.2.7/24` as `192.0.2.0/24`.
 * @throws ApiError `validation_error` for what is no range and for an unknown token, `conflict` where there is a grant.
 */
export async function insertGrant(tx: Tx, grant: NewGrant): Promise<string> {
  const { tokenId, addressRange } = grant
  if ((tokenId === undefined) === (addressRange === undefined)) {
    throw validationError('token_id', 'must be given, or address_range, and not both')
  }
  if (tokenId !== undefined && !(await existsToken(tx, tokenId))) throw validationError('token_id', 'names no token')
  const range = addressRange === undefined ? null : checkRange(addressRange)
  // Two inserts at once may pass the limit by one, which does no harm.
  const { count } = await tx
    .selectFrom('rate_limit_grant')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= GRANTS_MAX) throw invalidInput(`There may be at most ${GRANTS_MAX} rate limits`)
  const id = newId()
  const taken = (field: string) => () =>
    new ApiError('conflict', 'There is a rate limit for this already', { details: { field, message: 'is taken' } })
  await tx
    .insertInto('rate_limit_grant')
    .values({
      id,
      token_id: tokenId ?? null,
      address_range: sql`network(${range}::inet)::cidr`,
      requests_per_minute: grant.requestsPerMinute,
      note: grant.note,
      created: new Date(grant.now),
    })
    .execute()
    .catch(
      onUnique({ rate_limit_grant_token_key: taken('token_id'), rate_limit_grant_range_key: taken('address_range') }),
    )
  return id
}

/** @throws ApiError 404 when there is none. */
export async function deleteGrant(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('rate_limit_grant').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('rate limit')
}

/** An address alone stands for itself. */
function checkRange(text: string): string {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  const bits = family === 6 ? 128 : 32
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  // A zone names an interface of one machine. IPv4 written as IPv6 would be met by nobody: clients are taken as IPv4.
  const isOdd = address.includes('%') || (family === 6 && address.includes('.'))
  if (family === 0 || !isPrefix || rest.length > 0 || isOdd) {
    throw validationError('address_range', 'must be an address or a range such as 192.0.2.0/24')
  }
  return text
}

async function existsToken(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from personal_access_token where id = ${id}
    union all select 1 from session where id = ${id}
    union all select 1 from oauth_token where id = ${id}`.execute(db)
  return rows.length > 0
}
