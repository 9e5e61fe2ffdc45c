import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireEditable } from './policy.ts'
import { deleteTokens, lockApplication } from './queries.ts'

/** Deletes an application with its authorizations, and revokes its tokens immediately. @throws ApiError 404, 403. */
export async function deleteApplication(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  id: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { account_id, icon_url, raw_icon_url } = requireEditable(viewer, await lockApplication(tx, id))
    await deleteTokens(tx, changed, { column: 'client_id', value: id })
    await tx.deleteFrom('oauth_client').where('id', '=', id).execute()
    await removeImages(tx, deps.config, [icon_url, raw_icon_url])
    const subject = { kind: 'oauth_application', id } as const
    const entry = { actor: actorOf(viewer), subject, accountIds: [account_id] }
    await recordAudit(tx, { ...entry, action: 'oauth.application_deleted' })
  })
}
