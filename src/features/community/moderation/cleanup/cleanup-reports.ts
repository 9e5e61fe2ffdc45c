// The reports about the accounts of a cleanup and their projects.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { dropReportClaim } from '#features/community/reports/groups/queries.ts'
import { lockReports } from '#features/community/reports/queries.ts'
import { announceClosing } from '#features/community/reports/update-report.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Content } from './queries.ts'

const idsOf = (contents: readonly Content[]): string[] => [
  ...new Set(contents.flatMap(({ reports = [] }) => reports.map(({ id }) => id))),
]

type Run = { tx: Tx; changed: ChangeSet; viewer: Viewer; now: number }

/** Closes the reports as led to action. Reports that somebody else has closed stay as they are. */
export async function closeReportsOf({ tx, changed, viewer, now }: Run, contents: readonly Content[]): Promise<void> {
  const ids = idsOf(contents)
  if (ids.length === 0) return
  for (const report of await lockReports(tx, ids)) {
    if (report.closed) continue
    const columns = { closed: true, closed_at: new Date(now), outcome: 'action' } as const
    await tx.updateTable('report').set(columns).where('id', '=', report.id).execute()
    await announceClosing(tx, changed, viewer, { report, closed: true })
    await dropReportClaim(tx, report)
  }
}

/** Reopens the reports that the cleanup has closed at the time `since`. */
export async function reopenReportsOf(
  { tx, changed, viewer }: Omit<Run, 'now'>,
  contents: readonly Content[],
  since: Date,
): Promise<void> {
  const ids = idsOf(contents)
  if (ids.length === 0) return
  for (const report of await lockReports(tx, ids)) {
    if (!report.closed || report.closed_at?.getTime() !== since.getTime()) continue
    const columns = { closed: false, closed_at: null, outcome: null }
    await tx.updateTable('report').set(columns).where('id', '=', report.id).execute()
    await announceClosing(tx, changed, viewer, { report, closed: false })
  }
}
