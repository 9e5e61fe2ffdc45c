// Making, editing and deleting affiliate codes.
import type { Db, Tx } from '#db/db.ts'
import { ApiError, forbidden, notFound, validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import { hasBadge } from '#lib/permissions.ts'
import { checkText } from '#lib/text-rules.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import { type AffiliateCodeRow, findAffiliateCode } from './queries.ts'
import type { AffiliateCodePatch, NewAffiliateCode } from './views.ts'

/** Codes of one account. */
const CODES_MAX = 256
const SOURCE_NAME_MAX = 255

/** The code, if it is the viewer's own or the viewer is an admin. @throws ApiError 404 */
export async function getOwnCode(db: Db, viewer: Viewer, id: string): Promise<AffiliateCodeRow> {
  const code = await findAffiliateCode(db, id)
  if (code === undefined || (code.account_id !== viewer.id && !isAdmin(viewer))) throw notFound('affiliate code')
  return code
}

/**
 * Makes a code of the viewer's, or, for an admin, of the named account's.
 * @throws ApiError 403 without the badge, `validation_error` for an unknown account, `limit_reached` from 256 codes on.
 */
export async function createCode(
  tx: Tx,
  viewer: Viewer,
  { fields, now }: { fields: NewAffiliateCode; now: number },
): Promise<AffiliateCodeRow> {
  await requireBadge(tx, viewer)
  requireAdminFor('revenue_split', fields.revenue_split, viewer)
  const sourceName = checkText(fields.source_name, 'source_name', { min: 1, max: SOURCE_NAME_MAX, visible: true })
  const accountId = fields.affiliate ?? viewer.id
  if (accountId !== viewer.id) requireAdminFor('affiliate', accountId, viewer)
  await lockAffiliate(tx, accountId)
  const { count } = await tx
    .selectFrom('affiliate_code')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (count >= CODES_MAX) {
    throw new ApiError('limit_reached', `An account has at most ${CODES_MAX} affiliate codes; delete one first`)
  }
  return tx
    .insertInto('affiliate_code')
    .values({
      id: newId(),
      account_id: accountId,
      created_by: viewer.id,
      source_name: sourceName,
      share: fields.revenue_split ?? null,
      created: new Date(now),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** @throws ApiError 404, 403 without the badge. */
export async function updateCode(
  tx: Tx,
  viewer: Viewer,
  { id, patch }: { id: string; patch: AffiliateCodePatch },
): Promise<void> {
  await getOwnCode(tx, viewer, id)
  await requireBadge(tx, viewer)
  requireAdminFor('revenue_split', patch.revenue_split, viewer)
  const { source_name, revenue_split } = patch
  if (source_name !== undefined) checkText(source_name, 'source_name', { min: 1, max: SOURCE_NAME_MAX, visible: true })
  const set = {
    ...(source_name === undefined ? {} : { source_name }),
    ...(revenue_split === undefined ? {} : { share: revenue_split }),
  }
  if (Object.keys(set).length > 0) await tx.updateTable('affiliate_code').set(set).where('id', '=', id).execute()
}

/** What it has earned stays. @throws ApiError 404 */
export async function deleteCode(tx: Tx, viewer: Viewer, id: string): Promise<void> {
  const code = await getOwnCode(tx, viewer, id)
  await tx.deleteFrom('affiliate_code').where('id', '=', code.id).execute()
}

/** @throws ApiError 403 unless the viewer is an admin or has the badge of affiliates. */
async function requireBadge(db: Db, viewer: Viewer): Promise<void> {
  if (isAdmin(viewer)) return
  const row = await db.selectFrom('account').select('badges').where('id', '=', viewer.id).executeTakeFirst()
  if (!hasBadge(row?.badges ?? 0, 'AFFILIATE')) throw forbidden('This needs the affiliate badge')
}

function requireAdminFor(field: string, value: unknown, viewer: Viewer): void {
  if (value !== undefined && value !== null && !isAdmin(viewer)) throw forbidden(`Only admins may set ${field}`)
}

/** Codes of one account are made one after the other, so that their number holds. */
async function lockAffiliate(tx: Tx, id: string): Promise<void> {
  const row = isIdForm(id)
    ? await tx.selectFrom('account').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
    : undefined
  if (row === undefined) throw validationError('affiliate', 'names no account')
}
