// The reports about the accounts of a cleanup and their projects.
import type { Updateable } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { dropReportClaim } from '#features/community/reports/groups/queries.ts'
import { lockReports, type ReportRow } from '#features/community/reports/queries.ts'
import { announceClosing } from '#features/community/reports/update-report.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Report } from '#platform/db/schema.ts'
import type { Content } from './queries.ts'

const idsOf = (contents: readonly Content[]): string[] => [
  ...new Set(contents.flatMap(({ reports = [] }) => reports.map(({ id }) => id))),
]

type Run = { tx: Tx; changed: ChangeSet; viewer: Viewer; now: number }

/** Closes the reports as led to action. Reports that somebody else has closed stay as they are. */
export async function closeReportsOf({ tx, changed, viewer, now }: Run, contents: readonly Content[]): Promise<void> {
  const outcome = 'action' as const
  const columns = { closed: true, closed_at: new Date(now), outcome } as const
  const reports = await changeReports(tx, idsOf(contents), ({ closed }) => !closed, columns)
  for (const report of reports) {
    await announceClosing(tx, changed, viewer, { report, closed: true, outcome })
    await dropReportClaim(tx, report)
  }
}

/** Reopens the reports that the cleanup has closed at the time `since`. */
export async function reopenReportsOf(
  { tx, changed, viewer }: Omit<Run, 'now'>,
  contents: readonly Content[],
  since: Date,
): Promise<void> {
  const wasClosedHere = ({ closed, closed_at }: ReportRow) => closed && closed_at?.getTime() === since.getTime()
  const columns = { closed: false, closed_at: null, outcome: null }
  for (const report of await changeReports(tx, idsOf(contents), wasClosedHere, columns))
    await announceClosing(tx, changed, viewer, { report, closed: false })
}

/** Changes the reports that are `wanted`, and returns them as they were before. */
async function changeReports(
  tx: Tx,
  ids: readonly string[],
  wanted: (report: ReportRow) => boolean,
  columns: Updateable<Report>,
): Promise<ReportRow[]> {
  if (ids.length === 0) return []
  const reports = (await lockReports(tx, ids)).filter(wanted)
  if (reports.length === 0) return []
  const changing = reports.map(({ id }) => id)
  await tx.updateTable('report').set(columns).where('id', 'in', changing).execute()
  return reports
}
