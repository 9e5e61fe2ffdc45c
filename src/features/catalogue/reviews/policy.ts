// Decides who can appeal a decision, and who can decide an appeal.
import { sql } from 'kysely'
import { isMember, type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'

/** Members who can submit the project can appeal. @throws ApiError 403 */
export function requireAppealer(viewer: Viewer, membership: Membership): void {
  if (!isMember(membership)) throw forbidden('Only members of the project can appeal')
  requirePermission(viewer, membership, 'EDIT_DETAILS')
}

/**
 * Returns whether the viewer can decide an appeal against the decision of `moderatorId`: not against their own, except
 * operators, and moderators of an instance on which nobody else could decide.
 */
export async function mayJudge(db: Db, viewer: Viewer, moderatorId: string | null): Promise<boolean> {
  return viewer.id !== moderatorId || isAdmin(viewer) || !(await hasOtherModerators(db, viewer.id))
}

/** @throws ApiError 403 for an appeal against the viewer's own decision, if another moderator can decide it. */
export async function requireJudge(db: Db, viewer: Viewer, moderatorId: string | null): Promise<void> {
  if (!(await mayJudge(db, viewer, moderatorId)))
    throw forbidden('The appeal is against your decision: another moderator decides it')
}

/** Returns whether another account with the role of a moderator can sign in. */
export async function hasOtherModerators(db: Db, accountId: string): Promise<boolean> {
  const { rows } = await sql`select from account where role in ('moderator', 'admin') and id <> ${accountId}
    and deletion_due is null and (suspended_at is null or suspended_until <= now()) limit 1`.execute(db)
  return rows.length > 0
}
