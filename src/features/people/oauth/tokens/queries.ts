import { parseToken } from '#lib/access/tokens.ts'
import type { Db } from '#platform/db/db.ts'

export type TokenRow = {
  id: string
  client_id: string
  account_id: string
  scopes: number
  created: Date
  expires: Date
  username: string
}

/** Returns the OAuth token with this secret, even if it has expired. */
export async function findToken(db: Db, text: string): Promise<TokenRow | undefined> {
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
