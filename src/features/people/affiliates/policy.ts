// Permissions for affiliate codes.
import { hasBadge } from '#features/basics/access/permissions.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** Returns whether the viewer sees the codes of all users, with their creator, time and share. Others see their own. */
export function seesAllCodes(viewer: Viewer): boolean {
  return isAdmin(viewer)
}

/** Returns whether the viewer can create and edit codes: admins, and accounts with the affiliate badge. */
export function canCreateCodes(viewer: Viewer, { badges }: { badges: number }): boolean {
  return isAdmin(viewer) || hasBadge(badges, 'AFFILIATE')
}

/** Requires an admin or an account with the affiliate badge. @throws ApiError 403 */
export function requireAffiliate(viewer: Viewer, account: { badges: number }): void {
  if (!canCreateCodes(viewer, account)) throw forbidden('This request requires the affiliate badge')
}

/**
 * Requires an admin to set the owner or the share of a code, or to clear a share that is set.
 * @param current the code before the change, if it exists.
 * @throws ApiError 403
 */
export function requireSettableTerms(
  viewer: Viewer,
  { affiliate, revenue_split }: { affiliate?: string | null | undefined; revenue_split?: string | null | undefined },
  current: { share: string | null } = { share: null },
): void {
  if (isAdmin(viewer)) return
  const setsShare = revenue_split === null ? current.share !== null : revenue_split !== undefined
  if (setsShare) throw forbidden('Only admins can set revenue_split')
  if ((affiliate ?? viewer.id) !== viewer.id) throw forbidden('Only admins can set affiliate')
}
