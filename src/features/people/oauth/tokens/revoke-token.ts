import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'
import { OAuthError } from './oauth-error.ts'
import { findToken } from './queries.ts'

/**
 * Revokes a token (RFC 7009). Does nothing if the token does not exist.
 * @throws OAuthError `unauthorized_client` for a token of another application.
 */
export async function revokeToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  { clientId, text }: { clientId: string; text: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const row = await findToken(tx, text)
    if (row === undefined) return
    if (row.client_id !== clientId)
      throw new OAuthError('unauthorized_client', 'The token was issued to another application')
    await deleteTokens(tx, changed, { column: 'id', value: row.id })
  })
}
