// What an application may learn of a token it holds, and giving one back.
import type { ChangeSet } from '#cache/changes.ts'
import type { Db, Tx } from '#db/db.ts'
import { scopeNames } from '#lib/scopes.ts'
import { parseToken } from '#lib/tokens.ts'
import { deleteTokens } from '../applications/queries.ts'
import type { Client } from './authenticate-client.ts'
import { OAuthError } from './oauth-error.ts'

export type TokenState =
  | { active: false }
  | {
      active: true
      scope: string
      client_id: string
      username?: string
      sub?: string
      token_type: 'Bearer'
      exp: number
      iat: number
    }

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/**
 * RFC 7662. Of anything but its own valid token an application learns that it is not active, and nothing else. Whose
 * token it is, it learns only where that person lets it see the account.
 */
export async function describeToken(
  db: Db,
  client: Client,
  { text, now }: { text: string; now: number },
): Promise<TokenState> {
  const row = await findToken(db, text)
  if (row === undefined || row.client_id !== client.id || row.expires.getTime() <= now) return { active: false }
  const scopes = scopeNames(row.scopes)
  return {
    active: true,
    scope: scopes.join(' '),
    client_id: row.client_id,
    ...(scopes.includes('USER_READ') ? { username: row.username, sub: row.account_id } : {}),
    token_type: 'Bearer',
    exp: seconds(row.expires),
    iat: seconds(row.created),
  }
}

/**
 * RFC 7009. What is no token ends as well as one that is; that of another application is refused.
 * @throws OAuthError `unauthorized_client`
 */
export async function revokeToken(
  tx: Tx,
  changed: ChangeSet,
  { client, text }: { client: Client; text: string },
): Promise<void> {
  const row = await findToken(tx, text)
  if (row === undefined) return
  if (row.client_id !== client.id)
    throw new OAuthError('unauthorized_client', 'The token was given to another application')
  await deleteTokens(tx, changed, { column: 'id', value: row.id })
}

async function findToken(db: Db, text: string) {
  const parsed = parseToken(text)
  if (parsed?.kind !== 'oauth') return undefined
  return db
    .selectFrom('oauth_token')
    .innerJoin('account', 'account.id', 'oauth_token.account_id')
    .select([
      'oauth_token.id',
      'oauth_token.client_id',
      'oauth_token.account_id',
      'oauth_token.scopes',
      'oauth_token.created',
      'oauth_token.expires',
      'account.username',
    ])
    .where('oauth_token.token_hash', '=', parsed.hash)
    .executeTakeFirst()
}
