// Writes into a thread: what a project's members or a reporter and the moderators say to each other.
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { listMemberIds } from '#features/access/memberships.ts'
import { attachImages } from '#features/content-images/queries.ts'
import { insertNotifications } from '#features/notifications/queries.ts'
import { ApiError, forbidden, invalidInput, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { isBlank } from '#lib/text-rules.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { getReadableMessage, getReadableThread, insertMessage, type ThreadRow } from './queries.ts'
import type { MessageInput } from './views.ts'

/** What one thread holds; moderators can always add to it, so that nobody shuts them out by filling it. */
const THREAD_BYTES_MAX = 4 * 1024 * 1024

/**
 * Writes a message and tells those it is for: of a moderator's words the other side, of theirs nobody, since moderators
 * look through their queues.
 * @throws ApiError 404 for a thread that is not the viewer's to read, 403 for a private message of one who is no
 * moderator, `invalid_input` for a reporter in a closed report, `validation_error` naming the field, `limit_reached`.
 */
export async function postMessage(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  threadId: string,
  input: MessageInput,
): Promise<void> {
  if (isBlank(input.body)) throw validationError('body.body', 'must not be blank')
  const replyingTo = input.replying_to ?? null
  if (replyingTo !== null && !isIdForm(replyingTo))
    throw validationError('body.replying_to', 'is not a base62 identifier')
  const isPrivate = input.private ?? false
  await transaction(deps, async (tx) => {
    const thread = await getReadableThread(tx, viewer, threadId)
    if (isPrivate && !isModerator(viewer)) throw forbidden('Only moderators may write private messages')
    // The report before the thread, as where it is closed: the two orders would wait for each other.
    await requireOpen(tx, viewer, thread)
    if (replyingTo !== null) await requireSameThread(tx, viewer, thread, replyingTo)
    const { id, sizeBytes } = await insertMessage(tx, {
      threadId: thread.id,
      authorId: viewer.id,
      body: { type: 'text', body: input.body, private: isPrivate, replying_to: replyingTo },
      hideIdentity: isModerator(viewer),
    })
    if (sizeBytes > THREAD_BYTES_MAX && !isModerator(viewer)) {
      throw new ApiError('limit_reached', 'This thread is full; moderators can still answer in it')
    }
    const images = [...new Set(input.associated_images ?? [])]
    await attachImages(tx, viewer, {
      ids: images,
      place: { context: 'thread_message', id },
      field: 'body.associated_images',
    })
    if (!isPrivate) await tellOthers(tx, viewer, { thread, messageId: id })
  })
}

/** A closed report is over for its reporter until a moderator reopens it. */
async function requireOpen(tx: Tx, viewer: Viewer, thread: ThreadRow): Promise<void> {
  if (thread.report_id === null) return
  const report = await tx
    .selectFrom('report')
    .select('closed')
    .where('id', '=', thread.report_id)
    .forShare()
    .executeTakeFirst()
  if (report?.closed === true && !isModerator(viewer)) throw invalidInput('This report is closed')
}

async function requireSameThread(tx: Tx, viewer: Viewer, thread: ThreadRow, messageId: string): Promise<void> {
  const target = await getReadableMessage(tx, viewer, messageId).catch((error: unknown) => {
    if (error instanceof ApiError && error.fault === 'not_found') return undefined
    throw error
  })
  if (target?.thread_id !== thread.id) throw validationError('body.replying_to', 'names no message of this thread')
}

async function tellOthers(
  tx: Tx,
  viewer: Viewer,
  { thread, messageId }: { thread: ThreadRow; messageId: string },
): Promise<void> {
  if (!isModerator(viewer)) return
  const about = {
    thread_id: thread.id,
    message_id: messageId,
    project_id: thread.project_id,
    report_id: thread.report_id,
  }
  if (thread.reporter_id !== null) {
    if (thread.reporter_id !== viewer.id)
      await insertNotifications(tx, [thread.reporter_id], { type: 'moderator_message', ...about })
    return
  }
  if (thread.project_id === null) return
  const project = await tx
    .selectFrom('project')
    .select(['status', 'team_id', 'organization_id'])
    .where('id', '=', thread.project_id)
    .executeTakeFirst()
  // While a review runs, its outcome is what the team is told.
  if (project === undefined || project.status === 'processing') return
  const others = (await listMemberIds(tx, project)).filter((id) => id !== viewer.id)
  await insertNotifications(tx, others, { type: 'moderator_message', ...about })
  await insertNotifications(tx, others, { type: 'moderation_message_received', project_id: thread.project_id })
}
