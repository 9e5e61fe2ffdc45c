import type { Updateable } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { AffiliateCode } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAffiliate, requireSettableTerms } from './policy.ts'
import { getBadges, getVisibleCode } from './queries.ts'
import type { AffiliateCodePatch } from './requests.ts'

const COLUMNS: PatchColumns<AffiliateCodePatch, Updateable<AffiliateCode>> = {
  source_name: (source_name) => ({ source_name }),
  revenue_split: (share) => ({ share }),
}

/** Edits a code. @throws ApiError 404, 403 without the affiliate badge or for fields that only admins can set. */
export async function updateCode(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: AffiliateCodePatch },
): Promise<void> {
  const set = toColumns(patch, COLUMNS)
  await transaction(deps, async (tx) => {
    const code = await getVisibleCode(tx, viewer, id)
    requireAffiliate(viewer, { badges: await getBadges(tx, viewer.id) })
    requireSettableTerms(viewer, patch, code)
    if (Object.keys(set).length === 0) return
    await tx.updateTable('affiliate_code').set(set).where('id', '=', id).execute()
    await recordAudit(tx, {
      action: 'affiliate.code_changed',
      actor: actorOf(viewer),
      subject: { kind: 'affiliate_code', id },
      accountIds: [code.account_id],
      details: { fields: Object.keys(set) },
    })
  })
}

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
