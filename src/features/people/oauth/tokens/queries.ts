import type { Selectable } from 'kysely'
import { parseToken } from '#lib/access/tokens.ts'
import type { Db } from '#platform/db/db.ts'
import type { OauthToken } from '#platform/db/schema.ts'

export type TokenRow = Selectable<OauthToken> & { username: string }

/** Returns the OAuth token with this secret, even if it has expired. */
export async function findToken(db: Db, text: string): Promise<TokenRow | undefined> {
  const parsed = parseToken(text)
  if (parsed?.kind !== 'oauth') return undefined
  return db
    .selectFrom('oauth_token')
    .innerJoin('account', 'account.id', 'oauth_token.account_id')
    .selectAll('oauth_token')
    .select('account.username')
    .where('oauth_token.token_hash', '=', parsed.hash)
    .executeTakeFirst()
}
