import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireReportDeleter } from './policy.ts'
import { lockVisibleReport } from './queries.ts'

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
