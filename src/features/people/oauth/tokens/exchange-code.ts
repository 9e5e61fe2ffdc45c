import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { hashToken, newToken, secretsEqual } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { OauthCode } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'
import { OAuthError } from './oauth-error.ts'

/** 14 days, like sessions. There are no refresh tokens: the application must request authorization again. */
export const TOKEN_LIFETIME_MS = 14 * DAY_MS
/** Maximum number of tokens of an authorization. A new token deletes the oldest. */
const TOKENS_MAX = 50

type Exchange = { clientId: string; code: string; redirectUri: string; verifier: string | undefined }
type Code = Selectable<OauthCode>

/**
 * Exchanges a code for a token. Every attempt deletes the code, even if it fails. A repeated code deletes the token that
 * it was exchanged for, because one of the two clients has stolen it (RFC 6749, 4.1.2).
 * @throws OAuthError `invalid_grant`
 */
export async function exchangeCode(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  exchange: Exchange,
): Promise<{ token: string; scopes: number }> {
  const codeHash = hashToken(exchange.code)
  const result = await transaction(deps, async (tx, changed) => {
    const code = await tx.deleteFrom('oauth_code').where('code_hash', '=', codeHash).returningAll().executeTakeFirst()
    if (code === undefined) {
      await deleteTokens(tx, changed, { column: 'code_hash', value: codeHash })
      return { refusal: 'The code is unknown, was used, or has expired' }
    }
    // Returned and not thrown, so that the transaction commits and the code remains deleted.
    const refusal = refusalOf(code, exchange, deps.now())
    if (refusal !== undefined) return { refusal }
    return { token: await insertToken(tx, changed, code, deps.now()), scopes: code.scopes }
  }).catch((error: unknown) => {
    // The authorization was revoked during the exchange.
    if (isForeignKeyViolation(error)) return { refusal: 'The authorization was revoked' }
    throw error
  })
  if ('refusal' in result) throw new OAuthError('invalid_grant', result.refusal)
  return result
}

function refusalOf(code: Code, { clientId, redirectUri, verifier }: Exchange, now: number): string | undefined {
  if (code.client_id !== clientId) return 'The code was issued to another application'
  if (code.expires.getTime() <= now) return 'The code is unknown, was used, or has expired'
  if (code.redirect_uri !== redirectUri)
    return 'redirect_uri differs from the redirect URI of the authorization request'
  if (code.code_challenge === null) {
    // Otherwise an attacker could remove the challenge from a request (RFC 9700, 4.8).
    return verifier === undefined ? undefined : 'The code was requested without code_challenge'
  }
  if (verifier === undefined) return 'code_verifier is required'
  const challenge = createHash('sha256').update(verifier, 'utf8').digest('base64url')
  return secretsEqual(challenge, code.code_challenge) ? undefined : 'code_verifier does not match code_challenge'
}

async function insertToken(tx: Tx, changed: ChangeSet, code: Code, now: number): Promise<string> {
  const { token, hash } = newToken('oauth')
  const { authorization_id, client_id, account_id, scopes, code_hash } = code
  await tx
    .insertInto('oauth_token')
    .values({
      id: newId(),
      authorization_id,
      client_id,
      account_id,
      token_hash: hash,
      code_hash,
      scopes,
      created: new Date(now),
      expires: new Date(now + TOKEN_LIFETIME_MS),
    })
    .execute()
  const { rows } = await sql<{ hash: string }>`delete from oauth_token where id in (
    select id from oauth_token where authorization_id = ${authorization_id} order by created desc, id offset ${TOKENS_MAX})
    returning encode(token_hash, 'hex') as hash`.execute(tx)
  changed.add('token', ...rows.map((row) => row.hash))
  return token
}
