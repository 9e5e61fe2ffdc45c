import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { hashToken, newToken, secretsEqual } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'
import type { Client } from './authenticate-client.ts'
import { OAuthError } from './oauth-error.ts'

/** Two weeks, as sessions. There is no refresh: the person is asked again. */
export const TOKEN_LIFETIME_MS = 14 * DAY_MS
/** Tokens of one authorization; one more ends the oldest. */
const TOKENS_MAX = 50

type Exchange = { client: Client; code: string; redirectUri: string; verifier: string | undefined }
type Code = {
  authorization_id: string
  client_id: string
  account_id: string
  scopes: number
  redirect_uri: string
  code_challenge: string | null
  expires: Date
}

/**
 * Gives a token for a code. Any try that reaches a code uses it up, also one that fails. A code that comes again ends
 * the token it was exchanged for (RFC 6749, 4.1.2), since one of the two who sent it has stolen it.
 * @throws OAuthError `invalid_grant`
 */
export async function exchangeCode(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  exchange: Exchange,
): Promise<{ token: string; scopes: number }> {
  const codeHash = hashToken(exchange.code)
  const made = await transaction(deps, async (tx, changed) => {
    const code = await takeCode(tx, codeHash)
    if (code === undefined) {
      await deleteTokens(tx, changed, { column: 'code_hash', value: codeHash })
      return { refusal: 'The code is unknown, was used, or has expired' }
    }
    // Not thrown: the code stays used up.
    const refusal = refusalOf(code, exchange, deps.now())
    if (refusal !== undefined) return { refusal }
    return { token: await insertToken(tx, changed, { code, codeHash, now: deps.now() }), scopes: code.scopes }
  }).catch((error: unknown) => {
    // The person or the application has ended the authorization at this moment.
    if (isForeignKeyViolation(error)) return { refusal: 'The authorization was revoked' }
    throw error
  })
  if ('refusal' in made) throw new OAuthError('invalid_grant', made.refusal)
  return made
}

function takeCode(tx: Tx, codeHash: Buffer): Promise<Code | undefined> {
  return tx
    .deleteFrom('oauth_code')
    .where('code_hash', '=', codeHash)
    .returning(['authorization_id', 'client_id', 'account_id', 'scopes', 'redirect_uri', 'code_challenge', 'expires'])
    .executeTakeFirst()
}

function refusalOf(code: Code, { client, redirectUri, verifier }: Exchange, now: number): string | undefined {
  if (code.client_id !== client.id) return 'The code was given to another application'
  if (code.expires.getTime() <= now) return 'The code is unknown, was used, or has expired'
  if (code.redirect_uri !== redirectUri) return 'redirect_uri is not the one the code was sent to'
  if (code.code_challenge === null) {
    // Else an attacker could strip the challenge from a request (RFC 9700, 4.8).
    return verifier === undefined ? undefined : 'The code was asked for without code_challenge'
  }
  if (verifier === undefined) return 'code_verifier is required'
  const challenge = createHash('sha256').update(verifier, 'utf8').digest('base64url')
  return secretsEqual(challenge, code.code_challenge) ? undefined : 'code_verifier does not fit code_challenge'
}

async function insertToken(
  tx: Tx,
  changed: ChangeSet,
  { code, codeHash, now }: { code: Code; codeHash: Buffer; now: number },
): Promise<string> {
  const { token, hash } = newToken('oauth')
  const { authorization_id, client_id, account_id, scopes } = code
  await tx
    .insertInto('oauth_token')
    .values({
      id: newId(),
      authorization_id,
      client_id,
      account_id,
      token_hash: hash,
      code_hash: codeHash,
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
