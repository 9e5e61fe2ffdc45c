// Edits, closes, reopens and deletes a report.

import type { Updateable } from 'kysely'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages, dropUnusedImages } from '#features/basics/content-images/queries.ts'
import { requireOpenReport } from '#features/catalogue/threads/policy.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Report } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { requireReportCloser, requireReportDeleter } from './policy.ts'
import { lockVisibleReport, type ReportRow } from './queries.ts'
import type { ReportPatch } from './requests.ts'

/** Null means absent. */
const COLUMNS: PatchColumns<ReportPatch, Updateable<Report>> = {
  body: (body) => (body === null ? {} : { body }),
  closed: (closed) => (closed === null ? {} : { closed }),
}

/**
 * Edits a report in one transaction.
 * @throws ApiError 404 if the report is hidden, 403 for `closed` unless the viewer is a moderator, `invalid_input` for
 * the text of a closed report unless the viewer is a moderator.
 */
export async function updateReport(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: ReportPatch },
): Promise<void> {
  const set = toColumns(patch, COLUMNS)
  await transaction(deps, async (tx) => {
    const report = await lockVisibleReport(tx, viewer, id)
    if (set.closed !== undefined) requireReportCloser(viewer)
    if (set.body !== undefined) requireOpenReport(viewer, report)
    if (Object.keys(set).length === 0) return
    await tx.updateTable('report').set(set).where('id', '=', id).execute()
    if (set.body !== undefined) await dropUnusedImages(tx, { context: 'report', id }, set.body)
    if (set.closed !== undefined && set.closed !== report.closed) {
      await announce(tx, viewer, report, set.closed)
      const action = set.closed ? 'report.closed' : 'report.reopened'
      await recordAudit(tx, { action, actor: actorOf(viewer), subject: { kind: 'report', id } })
    }
  })
}

/** Adds an anonymous entry to the thread and notifies the reporter. The lock prevents a second announcement. */
async function announce(tx: Tx, viewer: Viewer, lockedReport: ReportRow, closed: boolean): Promise<void> {
  const { id, thread_id: threadId, reporter_id: reporterId } = lockedReport
  const body = { type: closed ? 'thread_closure' : 'thread_reopen' } as const
  await insertMessage(tx, { threadId, authorId: viewer.id, body, hideIdentity: true })
  await insertNotifications(tx, [reporterId], { type: 'report_status_updated', report_id: id })
}

/**
 * Deletes a report with its thread and the images in both.
 * @throws ApiError 404 if the report is hidden, 403 unless the viewer is a moderator.
 */
export async function deleteReport(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const report = await lockVisibleReport(tx, viewer, id)
    requireReportDeleter(viewer)
    const messages = await tx
      .selectFrom('thread_message')
      .select('id')
      .where('thread_id', '=', report.thread_id)
      .execute()
    await dropImages(tx, 'report', [id])
    const messageIds = messages.map((message) => message.id)
    await dropImages(tx, 'thread_message', messageIds)
    await tx.deleteFrom('report').where('id', '=', id).execute()
    await recordAudit(tx, { action: 'report.deleted', actor: actorOf(viewer), subject: { kind: 'report', id } })
  })
}
