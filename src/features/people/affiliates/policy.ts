// Who makes, sees and changes affiliate codes.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { hasBadge } from '#lib/access/permissions.ts'
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

/** Whether the viewer sees a code of this account: their own, for admins everybody's. */
export function canSeeCodesOf(viewer: Viewer, accountId: string): boolean {
  return accountId === viewer.id || isAdmin(viewer)
}

/** The same in SQL. */
export function codeVisibleTo(viewer: Viewer): (eb: ExpressionBuilder<DB, 'affiliate_code'>) => Expression<SqlBool> {
  return (eb) => (isAdmin(viewer) ? sql<SqlBool>`true` : eb('affiliate_code.account_id', '=', viewer.id))
}

/** Whether the viewer sees who made a code, when, and for which share. */
export function canSeeTerms(viewer: Viewer): boolean {
  return isAdmin(viewer)
}

/** Admins, and accounts with the badge of affiliates. @throws ApiError 403 */
export function requireAffiliate(viewer: Viewer, { badges }: { badges: number }): void {
  if (!isAdmin(viewer) && !hasBadge(badges, 'AFFILIATE')) throw forbidden('This needs the affiliate badge')
}

/**
 * The owner and the share of a code are for admins to set. Null is no value, but it may not clear an admin's share.
 * @param current the code before the change, where there is one.
 * @throws ApiError 403
 */
export function requireSettableTerms(
  viewer: Viewer,
  { affiliate, revenue_split }: { affiliate?: string | null | undefined; revenue_split?: string | null | undefined },
  current: { share: string | null } = { share: null },
): void {
  if (isAdmin(viewer)) return
  const setsShare = revenue_split === null ? current.share !== null : revenue_split !== undefined
  if (setsShare) throw forbidden('Only admins may set revenue_split')
  if ((affiliate ?? viewer.id) !== viewer.id) throw forbidden('Only admins may set affiliate')
}
