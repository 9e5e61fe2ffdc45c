// Which applications an account has allowed to act for it.
import type { ChangeSet } from '#cache/changes.ts'
import type { Db, Tx } from '#db/db.ts'
import { deleteTokens } from '../applications/queries.ts'

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

/** Newest first; an account that allows more than a thousand sees the newest of them. */
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

/**
 * Ends what an account allowed an application: its tokens at once, codes and questions with them. Nothing happens
 * where nothing was allowed.
 */
export async function revokeAuthorization(
  tx: Tx,
  changed: ChangeSet,
  { accountId, clientId }: { accountId: string; clientId: string },
): Promise<void> {
  // Codes before the authorization, as an exchange takes them.
  await tx.deleteFrom('oauth_code').where('client_id', '=', clientId).where('account_id', '=', accountId).execute()
  const allowed = await tx
    .selectFrom('oauth_authorization')
    .select('id')
    .where('client_id', '=', clientId)
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirst()
  if (allowed === undefined) return
  // While the row is locked no exchange adds a token that caches would not hear of.
  await deleteTokens(tx, changed, { column: 'authorization_id', value: allowed.id })
  await tx.deleteFrom('oauth_flow').where('client_id', '=', clientId).where('account_id', '=', accountId).execute()
  await tx.deleteFrom('oauth_authorization').where('id', '=', allowed.id).execute()
}
