// Queries of the applications that a user has authorized.
import type { Selectable } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { OauthAuthorization, OauthClient } from '#platform/db/schema.ts'

export type AuthorizationRow = Selectable<OauthAuthorization> &
  Pick<Selectable<OauthClient>, 'name' | 'description' | 'url' | 'icon_url'> & { last_used: Date | null }

/** Maximum number of listed authorizations: the newest. */
const LISTED_MAX = 1000

export function listAuthorizations(db: Db, accountId: string): Promise<AuthorizationRow[]> {
  return db
    .selectFrom('oauth_authorization as allowed')
    .innerJoin('oauth_client as client', 'client.id', 'allowed.client_id')
    .selectAll('allowed')
    .select(['client.name', 'client.description', 'client.url', 'client.icon_url'])
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
