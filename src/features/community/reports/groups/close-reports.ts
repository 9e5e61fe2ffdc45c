import type { Viewer } from '#features/basics/access/viewer.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireReportCloser } from '../policy.ts'
import { lockReports, type ReportRow } from '../queries.ts'
import { announceClosing } from '../update-report.ts'
import { dropReportClaim } from './queries.ts'
import type { ReportsToClose } from './requests.ts'

/**
 * Closes several open reports about one item, with an optional message to each reporter: all of them or none.
 * @throws ApiError 403 unless the viewer is a moderator; `validation_error` naming `ids` for unknown reports and for
 * reports about different items; `conflict` with the IDs of the reports that another moderator has closed.
 */
export async function closeReports(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { ids, outcome, message }: ReportsToClose,
): Promise<void> {
  requireReportCloser(viewer)
  await transaction(deps, async (tx, changed) => {
    const reports = await lockReports(tx, ids)
    requireSameItem(reports, ids)
    const closed = reports.filter((report) => report.closed).map(({ id }) => id)
    if (closed.length > 0) {
      throw new ApiError('conflict', 'Another moderator has closed some of these reports. Nothing was changed.', {
        details: { closed },
      })
    }
    await tx
      .updateTable('report')
      .set({ closed: true, closed_at: new Date(deps.now()), outcome })
      .where('id', 'in', ids)
      .execute()
    for (const report of reports) {
      if (message !== undefined) await sendMessage(tx, changed, viewer, { report, message })
      await announceClosing(tx, changed, viewer, { report, closed: true, outcome, message })
    }
    const [first] = reports
    if (first !== undefined) await dropReportClaim(tx, first)
  })
}

function requireSameItem(reports: readonly ReportRow[], ids: readonly string[]): void {
  const known = new Set(reports.map(({ id }) => id))
  const unknown = ids.findIndex((id) => !known.has(id))
  if (unknown >= 0) throw validationError(`ids.${unknown}`, 'must be the ID of a report')
  const items = new Set(reports.map(({ item_type, item_id }) => `${item_type} ${item_id}`))
  if (items.size > 1) throw validationError('ids', 'must be reports about the same item')
}

async function sendMessage(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { report, message }: { report: ReportRow; message: string },
): Promise<void> {
  const { id: report_id, thread_id, reporter_id } = report
  const body = { type: 'text', body: message, private: false, replying_to: null } as const
  const { id: message_id } = await insertMessage(tx, {
    threadId: thread_id,
    authorId: viewer.id,
    body,
    hideIdentity: true,
  })
  if (reporter_id === viewer.id) return
  const about = { thread_id, message_id, project_id: null, report_id }
  await insertNotifications(tx, changed, [reporter_id], { type: 'moderator_message', ...about })
}
