// Queries of the applications that a user has authorized.
import type { Db } from '#platform/db/db.ts'

export type AuthorizationRow = {
  id: string
  app_id: string
  user_id: string
  scopes: number
  created: Date
  name: string
  description: string | null
  url: string | null
  icon_url: string | null
  last_used: Date | null
}

/** Maximum number of listed authorizations: the newest. */
const LISTED_MAX = 1000

export function listAuthorizations(db: Db, accountId: string): Promise<AuthorizationRow[]> {
  return db
    .selectFrom('oauth_authorization as allowed')
    .innerJoin('oauth_client as client', 'client.id', 'allowed.client_id')
    .select([
      'allowed.id',
      'client.id as app_id',
      'allowed.account_id as user_id',
      'allowed.scopes',
      'allowed.created',
      'client.name',
      'client.description',
      'client.url',
      'client.icon_url',
    ])
    .select((eb) =>
      eb
        .selectFrom('oauth_token')
        .select((token) => token.fn.max('oauth_token.last_used').as('last_used'))
        .whereRef('oauth_token.authorization_id', '=', 'allowed.id')
        .as('last_used'),
    )
    .where('allowed.account_id', '=', accountId)
    .orderBy('allowed.created', 'desc')
    .orderBy('allowed.id')
    .limit(LISTED_MAX)
    .execute()
}
