import { lockAccountIfAny } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAffiliate, requireSettableTerms } from './policy.ts'
import { type AffiliateCodeRow, getBadges } from './queries.ts'
import type { NewAffiliateCode } from './requests.ts'

/** Maximum number of codes of an account. */
const CODES_MAX = 256

/**
 * Creates a code for the viewer, or for the account that an admin names.
 * @throws ApiError 403 without the affiliate badge, `validation_error` for an unknown account, `limit_reached`.
 */
export async function createCode(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  fields: NewAffiliateCode,
): Promise<AffiliateCodeRow> {
  const accountId = fields.affiliate ?? viewer.id
  return transaction(deps, async (tx) => {
    requireAffiliate(viewer, { badges: await getBadges(tx, viewer.id) })
    requireSettableTerms(viewer, fields)
    // The lock prevents that concurrent creations exceed the limit.
    const account = isIdForm(accountId) ? await lockAccountIfAny(tx, accountId) : undefined
    if (account === undefined) throw validationError('affiliate', 'must be the ID of an account')
    await requireRoom(tx, accountId, { table: 'affiliate_code', max: CODES_MAX, things: 'affiliate codes' })
    const row = await tx
      .insertInto('affiliate_code')
      .values({
        id: newId(),
        account_id: accountId,
        created_by: viewer.id,
        source_name: fields.source_name,
        share: fields.revenue_split ?? null,
        created: new Date(deps.now()),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordAudit(tx, {
      action: 'affiliate.code_created',
      actor: actorOf(viewer),
      subject: { kind: 'affiliate_code', id: row.id },
      accountIds: [accountId],
      details: { share: row.share },
    })
    return row
  })
}
