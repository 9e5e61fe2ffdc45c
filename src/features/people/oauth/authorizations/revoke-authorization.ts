import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'

/**
 * Revokes the authorization of an application, with its tokens, codes and pending requests. Does nothing if there is
 * no authorization.
 */
export async function revokeAuthorization(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  clientId: string,
): Promise<void> {
  const { id: accountId } = viewer
  await transaction(deps, async (tx, changed) => {
    // Locks codes before the authorization, in the same order as the exchange of a code.
    await tx.deleteFrom('oauth_code').where('client_id', '=', clientId).where('account_id', '=', accountId).execute()
    const authorization = await tx
      .selectFrom('oauth_authorization')
      .select('id')
      .where('client_id', '=', clientId)
      .where('account_id', '=', accountId)
      .forUpdate()
      .executeTakeFirst()
    if (authorization === undefined) return
    // The lock prevents an exchange from adding a token that would remain in caches.
    await deleteTokens(tx, changed, { column: 'authorization_id', value: authorization.id })
    await tx.deleteFrom('oauth_flow').where('client_id', '=', clientId).where('account_id', '=', accountId).execute()
    await tx.deleteFrom('oauth_authorization').where('id', '=', authorization.id).execute()
    const subject = { kind: 'oauth_application', id: clientId } as const
    await recordAudit(tx, { action: 'oauth.authorization_revoked', actor: actorOf(viewer), subject })
  })
}
