// Deletes a message: removes its text and images, and keeps an empty entry in the thread.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireMessageEditor } from './policy.ts'
import { getReadableMessage, type MessageBody, refreshUnanswered } from './queries.ts'

/** Idempotent. @throws ApiError 404, 403, `invalid_input` for entries that the server created. */
export async function deleteMessage(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const message = await getReadableMessage(tx, viewer, id)
    requireMessageEditor(viewer, message)
    if (message.body.type === 'deleted') return
    if (message.body.type !== 'text') throw invalidInput('Entries that the server created cannot be deleted')
    const body: MessageBody = { type: 'deleted', private: message.body.private }
    await tx
      .updateTable('thread_message')
      .set({ body: JSON.stringify(body) })
      .where('id', '=', id)
      .execute()
    await refreshUnanswered(tx, message.thread_id)
    await dropImages(tx, 'thread_message', [id])
    const subject = { kind: 'thread_message', id } as const
    await recordAudit(tx, { action: 'message.deleted', actor: actorOf(viewer), subject })
  })
}
