import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'
import type { Client } from './authenticate-client.ts'
import { OAuthError } from './oauth-error.ts'
import { findToken } from './queries.ts'

/**
 * RFC 7009. For a text that is no token this does nothing; a token of another application is refused.
 * @throws OAuthError `unauthorized_client`
 */
export async function revokeToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  { client, text }: { client: Client; text: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const row = await findToken(tx, text)
    if (row === undefined) return
    if (row.client_id !== client.id)
      throw new OAuthError('unauthorized_client', 'The token was given to another application')
    await deleteTokens(tx, changed, { column: 'id', value: row.id })
  })
}
