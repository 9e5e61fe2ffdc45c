// Decides who can see and change reports. `requireOpenReport` in threads/policy.ts decides who can write in a closed one.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

/** SQL condition: moderators can see every report, other users their own. */
export function reportVisibleTo(viewer: Viewer): (eb: ExpressionBuilder<DB, 'report'>) => Expression<SqlBool> {
  return (eb) => (isModerator(viewer) ? sql<SqlBool>`true` : eb('report.reporter_id', '=', viewer.id))
}

/** Returns the ID of the reporter whose open reports a list shows, or undefined for all, which only moderators can see. */
export function reporterToList(viewer: Viewer, { all }: { all: boolean }): string | undefined {
  return all && isModerator(viewer) ? undefined : viewer.id
}

/** Returns whether the limit on open reports applies to the viewer. */
export function hasReportLimit(viewer: Viewer): boolean {
  return !isModerator(viewer)
}

/** @throws ApiError 403 */
export function requireReportCloser(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators can close and reopen reports')
}

/** @throws ApiError 403 */
export function requireReportDeleter(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators can delete reports')
}
