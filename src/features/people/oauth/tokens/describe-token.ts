import { scopeNames } from '#lib/access/scopes.ts'
import type { Db } from '#platform/db/db.ts'
import type { Client } from './authenticate-client.ts'
import { findToken } from './queries.ts'
import type { TokenState } from './views.ts'

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
