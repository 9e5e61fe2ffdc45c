import type { Db } from '#platform/db/db.ts'
import type { AccessTokenRow } from './views.ts'

/** Returns an account's access tokens, newest first, including expired ones. */
export function listAccessTokens(db: Db, accountId: string): Promise<AccessTokenRow[]> {
  return db
    .selectFrom('personal_access_token')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .execute()
}
