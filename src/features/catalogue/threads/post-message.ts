// Posts a message to a thread between moderators and the members of a project or the reporter of a report.

import { listMemberIds } from '#features/basics/access/memberships.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { attachImages } from '#features/basics/content-images/queries.ts'
import { takeSnapshot } from '#features/catalogue/reviews/snapshots.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireOpenReport, requirePrivateWriter, writesAsModerator } from './policy.ts'
import { getReadableMessage, getReadableThread, insertMessage, type ThreadRow } from './queries.ts'
import type { NewText } from './requests.ts'

/** Maximum size of a thread, in bytes. It does not apply to moderators, so that no one can lock them out. */
const THREAD_BYTES_MAX = 4 * 1024 * 1024

/**
 * Notifies the members or the reporter of a message of a moderator. Moderators receive no notifications, because they
 * work through their queues.
 * @throws ApiError 404, 403 for a private message unless a moderator writes it, `invalid_input` for a closed
 * report, `validation_error` naming the field, `limit_reached` for a full thread.
 */
export async function postMessage(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { threadId, message }: { threadId: string; message: NewText },
): Promise<void> {
  const { text, isPrivate, replyingTo, imageIds } = message
  const asModerator = writesAsModerator(viewer)
  await transaction(deps, async (tx, changed) => {
    const thread = await getReadableThread(tx, viewer, threadId)
    if (isPrivate) requirePrivateWriter(viewer)
    // Locks the report before the thread, in the same order as `updateReport`, to prevent deadlocks.
    await requireOpen(tx, viewer, thread)
    if (replyingTo !== null) await requireSameThread(tx, viewer, thread, replyingTo)
    // Locks the project before the thread.
    if (asModerator && !isPrivate && thread.project_id !== null)
      await takeSnapshot(tx, thread.project_id, { reason: 'message', at: new Date(deps.now()) })
    const { id, sizeBytes } = await insertMessage(tx, {
      threadId: thread.id,
      authorId: viewer.id,
      body: { type: 'text', body: text, private: isPrivate, replying_to: replyingTo },
      hideIdentity: asModerator,
    })
    if (sizeBytes > THREAD_BYTES_MAX && !asModerator)
      throw new ApiError('limit_reached', 'This thread has reached its size limit; only moderators can post in it')
    await attachImages(tx, viewer, {
      ids: imageIds,
      target: { context: 'thread_message', id },
      field: 'body.associated_images',
    })
    if (asModerator && !isPrivate) await notifyOtherSide(tx, changed, viewer, { thread, messageId: id })
  })
}

async function requireOpen(tx: Tx, viewer: Viewer, thread: ThreadRow): Promise<void> {
  if (thread.report_id === null) return
  const report = await tx
    .selectFrom('report')
    .select('closed')
    .where('id', '=', thread.report_id)
    .forShare()
    .executeTakeFirst()
  if (report !== undefined) requireOpenReport(viewer, report)
}

async function requireSameThread(tx: Tx, viewer: Viewer, thread: ThreadRow, messageId: string): Promise<void> {
  const target = await getReadableMessage(tx, viewer, messageId).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return undefined
    throw error
  })
  if (target?.thread_id !== thread.id)
    throw validationError('body.replying_to', 'must be the ID of a message in this thread')
}

/** Notifies the members of the project, or the reporter, of a moderator's message. */
export async function notifyOtherSide(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { thread, messageId }: { thread: Omit<ThreadRow, 'size_bytes' | 'type'>; messageId: string },
): Promise<void> {
  const about = {
    thread_id: thread.id,
    message_id: messageId,
    project_id: thread.project_id,
    report_id: thread.report_id,
  }
  if (thread.reporter_id !== null) {
    if (thread.reporter_id !== viewer.id)
      await insertNotifications(tx, changed, [thread.reporter_id], { type: 'moderator_message', ...about })
    return
  }
  if (thread.project_id === null) return
  const project = await tx
    .selectFrom('project')
    .select(['status', 'team_id', 'organization_id'])
    .where('id', '=', thread.project_id)
    .executeTakeFirst()
  // During a review, members are notified only of the result.
  if (project === undefined || project.status === 'processing') return
  const others = (await listMemberIds(tx, project)).filter((id) => id !== viewer.id)
  await insertNotifications(tx, changed, others, { type: 'moderator_message', ...about })
  await insertNotifications(tx, changed, others, { type: 'moderation_message_received', project_id: thread.project_id })
}
