// Edits, closes, reopens and deletes a report.

import type { Updateable } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages, dropUnusedImages } from '#features/basics/content-images/queries.ts'
import { recordEvent } from '#features/basics/events/record-event.ts'
import { requireOpenReport } from '#features/catalogue/threads/policy.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Report } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { dropReportClaim } from './groups/queries.ts'
import { requireReportCloser, requireReportDeleter } from './policy.ts'
import { lockVisibleReport, type ReportRow } from './queries.ts'
import type { ReportPatch } from './requests.ts'

/** Null means absent. */
const COLUMNS: PatchColumns<ReportPatch, Updateable<Report>> = {
  body: (body) => (body === null ? {} : { body }),
  closed: (closed) => (closed === null ? {} : { closed }),
  outcome: (outcome) => (outcome === null ? {} : { outcome }),
}

/**
 * Edits a report in one transaction.
 * @throws ApiError 404 if the report is hidden, 403 for `closed` unless the viewer is a moderator, `invalid_input` for
 * the text of a closed report unless the viewer is a moderator, `validation_error` for the outcome of an open report.
 */
export async function updateReport(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: ReportPatch },
): Promise<void> {
  const set = toColumns(patch, COLUMNS)
  await transaction(deps, async (tx, changed) => {
    const report = await lockVisibleReport(tx, viewer, id)
    if (set.closed !== undefined || set.outcome !== undefined) requireReportCloser(viewer)
    if (set.outcome !== undefined && !(set.closed ?? report.closed))
      throw validationError('outcome', 'can only be set for a closed report')
    if (set.body !== undefined) requireOpenReport(viewer, report)
    if (Object.keys(set).length === 0) return
    const isChange = set.closed !== undefined && set.closed !== report.closed
    await tx
      .updateTable('report')
      .set({ ...set, ...(isChange ? closedAt(set.closed === true, deps.now()) : {}) })
      .where('id', '=', id)
      .execute()
    if (set.body !== undefined) await dropUnusedImages(tx, { context: 'report', id }, set.body)
    const { closed, outcome } = set
    if (isChange) await announceClosing(tx, changed, viewer, { report, closed: closed === true, outcome })
    if (isChange) await dropReportClaim(tx, report)
  })
}

/** Returns the columns that closing or reopening a report sets in addition. */
function closedAt(closed: boolean, now: number): Updateable<Report> {
  return closed ? { closed_at: new Date(now) } : { closed_at: null, outcome: null }
}

/**
 * Adds an anonymous entry to the thread, notifies the reporter and records the change. The caller has locked the report,
 * which prevents a second announcement.
 */
export async function announceClosing(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  {
    report,
    closed,
    outcome = null,
    message,
  }: { report: ReportRow; closed: boolean; outcome?: ReportRow['outcome'] | undefined; message?: string | undefined },
): Promise<void> {
  const { id, thread_id: threadId, reporter_id: reporterId } = report
  const body = { type: closed ? 'thread_closure' : 'thread_reopen' } as const
  await insertMessage(tx, { threadId, authorId: viewer.id, body, hideIdentity: true })
  await insertNotifications(tx, changed, [reporterId], {
    ...{ type: 'report_status_updated', report_id: id, closed, outcome },
    ...(message === undefined ? {} : { message }),
  })
  const action = closed ? 'report.closed' : 'report.reopened'
  const details = outcome === null ? {} : { outcome }
  await recordAudit(tx, { action, actor: actorOf(viewer), subject: { kind: 'report', id }, details })
  if (!closed) return
  const { report_type, item_type, item_id } = report
  const data = { report_id: id, report_type, item_type, item_id }
  await recordEvent(tx, { kind: 'report.closed', subject: { kind: 'report', id }, data })
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
    await dropReportClaim(tx, report)
    await recordAudit(tx, { action: 'report.deleted', actor: actorOf(viewer), subject: { kind: 'report', id } })
  })
}
