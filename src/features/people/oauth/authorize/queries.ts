// Queries of pending consent requests, authorizations and unused codes.

import { type Selectable, sql } from 'kysely'
import { hashToken, newSecret } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { OauthFlow } from '#platform/db/schema.ts'

const FLOW_LIFETIME_MS = 30 * MINUTE_MS
const CODE_LIFETIME_MS = 10 * MINUTE_MS
/** Maximum number of pending requests of an account, and of unused codes of an authorization. The newest remain. */
const FLOWS_MAX = 50
const CODES_MAX = 20

/** A request for the user's consent, as it is stored. */
export type ConsentRequest = Omit<Selectable<OauthFlow>, 'flow_hash' | 'expires'>

/**
 * Locks the account and the application of a consent request against deletion. Call this before rows that refer to them are
 * inserted: a deletion locks in the same order, so it waits here. Without this, parallel requests and the deletion would
 * wait for each other, again after each repetition. Does nothing if one of the two was deleted.
 */
export async function lockParties(tx: Tx, { account_id, client_id }: ConsentRequest): Promise<void> {
  await sql`select from account, oauth_client where account.id = ${account_id} and oauth_client.id = ${client_id}
    for key share`.execute(tx)
}

/** Stores a consent request and returns the secret that is needed to answer it. */
export async function insertFlow(tx: Tx, consent: ConsentRequest, now: number): Promise<string> {
  const { secret, hash } = newSecret()
  await tx
    .insertInto('oauth_flow')
    .values({ ...consent, flow_hash: hash, expires: new Date(now + FLOW_LIFETIME_MS) })
    .execute()
  await sql`delete from oauth_flow where account_id = ${consent.account_id} and flow_hash in (
    select flow_hash from oauth_flow where account_id = ${consent.account_id}
    order by expires desc, (flow_hash = ${hash}) desc offset ${FLOWS_MAX})`.execute(tx)
  return secret
}

/** Returns the consent request with this secret, for any account. */
export function findFlow(db: Db, secret: string, now: number): Promise<ConsentRequest | undefined> {
  return db
    .selectFrom('oauth_flow')
    .select(['client_id', 'account_id', 'scopes', 'redirect_uri', 'state', 'code_challenge'])
    .where('flow_hash', '=', hashToken(secret))
    .where('expires', '>', new Date(now))
    .executeTakeFirst()
}

/** Deletes a consent request. Returns false if a concurrent answer has deleted it. */
export async function deleteFlow(tx: Tx, secret: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('oauth_flow')
    .where('flow_hash', '=', hashToken(secret))
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export function findAuthorization(
  db: Db,
  of: { clientId: string; accountId: string },
): Promise<{ id: string; scopes: number } | undefined> {
  return db
    .selectFrom('oauth_authorization')
    .select(['id', 'scopes'])
    .where('client_id', '=', of.clientId)
    .where('account_id', '=', of.accountId)
    .executeTakeFirst()
}

/** Stores the scopes that an account grants to an application, in place of the previous scopes. */
export async function upsertAuthorization(tx: Tx, consent: ConsentRequest, now: number): Promise<string> {
  const { client_id, account_id, scopes } = consent
  const { id } = await tx
    .insertInto('oauth_authorization')
    .values({ id: newId(), client_id, account_id, scopes, created: new Date(now) })
    .onConflict((conflict) => conflict.columns(['client_id', 'account_id']).doUpdateSet({ scopes }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Creates a code and stores its hash. */
export async function insertCode(
  tx: Tx,
  { authorizationId, consent, now }: { authorizationId: string; consent: ConsentRequest; now: number },
): Promise<string> {
  const { secret, hash } = newSecret()
  const { state: _, ...request } = consent
  const expires = new Date(now + CODE_LIFETIME_MS)
  await tx
    .insertInto('oauth_code')
    .values({ ...request, code_hash: hash, authorization_id: authorizationId, expires })
    .execute()
  await sql`delete from oauth_code where authorization_id = ${authorizationId} and code_hash in (
    select code_hash from oauth_code where authorization_id = ${authorizationId}
    order by expires desc, (code_hash = ${hash}) desc offset ${CODES_MAX})`.execute(tx)
  return secret
}
