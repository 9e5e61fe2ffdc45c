// Edits, closes, reopens and deletes a report.
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { dropImages, dropUnusedImages } from '#features/content-images/queries.ts'
import { insertNotifications } from '#features/notifications/queries.ts'
import { insertMessage } from '#features/threads/queries.ts'
import { forbidden, invalidInput, validationError } from '#lib/errors.ts'
import { isBlank } from '#lib/text-rules.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { lockVisibleReport, type ReportRow } from './queries.ts'
import type { ReportPatch } from './views.ts'

/**
 * Changes the text, as its reporter or a moderator, and whether the report is closed, as a moderator. All or nothing.
 * @throws ApiError 404 for another's report, 403 for `closed` of one who is no moderator, `invalid_input` for the text
 * of a closed report.
 */
export async function updateReport(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  id: string,
  patch: ReportPatch,
): Promise<void> {
  const body = patch.body ?? undefined
  const closed = patch.closed ?? undefined
  if (body !== undefined && isBlank(body)) throw validationError('body', 'must not be blank')
  await transaction(deps, async (tx) => {
    const report = await lockVisibleReport(tx, viewer, id)
    if (closed !== undefined && !isModerator(viewer)) throw forbidden('Only moderators may close and reopen reports')
    if (body !== undefined) {
      if (report.closed && !isModerator(viewer)) throw invalidInput('This report is closed')
      await tx.updateTable('report').set({ body }).where('id', '=', id).execute()
      await dropUnusedImages(tx, { context: 'report', id }, body)
    }
    if (closed !== undefined && closed !== report.closed) await setClosed(tx, viewer, report, closed)
  })
}

/** The thread says so without a name, and the reporter is told. Of two who close it at once, one closes it. */
async function setClosed(tx: Tx, viewer: Viewer, lockedReport: ReportRow, closed: boolean): Promise<void> {
  const { id, thread_id: threadId, reporter_id: reporterId } = lockedReport
  await tx.updateTable('report').set({ closed }).where('id', '=', id).execute()
  const body = { type: closed ? 'thread_closure' : 'thread_reopen' } as const
  await insertMessage(tx, { threadId, authorId: viewer.id, body, hideIdentity: true })
  await insertNotifications(tx, [reporterId], { type: 'report_status_updated', report_id: id })
}

/**
 * Deletes a report with its thread and all pictures in both.
 * @throws ApiError 404 for another's report, 403 for its reporter.
 */
export async function deleteReport(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const report = await lockVisibleReport(tx, viewer, id)
    if (!isModerator(viewer)) throw forbidden('Only moderators may delete reports')
    const messages = await tx
      .selectFrom('thread_message')
      .select('id')
      .where('thread_id', '=', report.thread_id)
      .execute()
    await dropImages(tx, 'report', [id])
    await dropImages(
      tx,
      'thread_message',
      messages.map((message) => message.id),
    )
    await tx.deleteFrom('report').where('id', '=', id).execute()
  })
}
