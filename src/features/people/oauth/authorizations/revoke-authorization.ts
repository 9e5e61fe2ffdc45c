import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteTokens } from '../applications/queries.ts'

/**
 * Ends what an account allowed an application: its tokens at once, with codes and requests that wait. Nothing happens
 * where nothing was allowed.
 */
export async function revokeAuthorization(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  clientId: string,
): Promise<void> {
  const { id: accountId } = viewer
  await transaction(deps, async (tx, changed) => {
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
    // While the row is locked no exchange adds a token that would stay in caches.
    await deleteTokens(tx, changed, { column: 'authorization_id', value: allowed.id })
    await tx.deleteFrom('oauth_flow').where('client_id', '=', clientId).where('account_id', '=', accountId).execute()
    await tx.deleteFrom('oauth_authorization').where('id', '=', allowed.id).execute()
    const subject = { kind: 'oauth_application', id: clientId } as const
    await recordAudit(tx, { action: 'oauth.authorization_revoked', actor: actorOf(viewer), subject })
  })
}
