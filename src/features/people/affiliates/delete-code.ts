import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { getVisibleCode } from './queries.ts'

/** Deletes a code that the viewer can see; its earnings remain. @throws ApiError 404 */
export async function deleteCode(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const code = await getVisibleCode(tx, viewer, id)
    await tx.deleteFrom('affiliate_code').where('id', '=', code.id).execute()
    await recordAudit(tx, {
      action: 'affiliate.code_deleted',
      actor: actorOf(viewer),
      subject: { kind: 'affiliate_code', id: code.id },
      accountIds: [code.account_id],
    })
  })
}
