// Who sees and changes reports. Whether a closed report still takes text is a rule of its thread (`requireOpenReport`).
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

/** In SQL: moderators see every report, others their own. */
export function reportVisibleTo(viewer: Viewer): (eb: ExpressionBuilder<DB, 'report'>) => Expression<SqlBool> {
  return (eb) => (isModerator(viewer) ? sql<SqlBool>`true` : eb('report.reporter_id', '=', viewer.id))
}

/** Whose open reports a list shows: undefined for everybody's, which only moderators get. */
export function reporterToList(viewer: Viewer, { all }: { all: boolean }): string | undefined {
  return all && isModerator(viewer) ? undefined : viewer.id
}

/** Whether the number of open reports is limited for the viewer. */
export function hasReportLimit(viewer: Viewer): boolean {
  return !isModerator(viewer)
}

/** @throws ApiError 403 */
export function requireReportCloser(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators may close and reopen reports')
}

/** @throws ApiError 403 */
export function requireReportDeleter(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators may delete reports')
}
