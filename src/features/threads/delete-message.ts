// Takes back what was said. The message keeps its place, without its text and its pictures.
import { transaction } from '#cache/transaction.ts'
import { dropImages } from '#features/content-images/queries.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { getReadableMessage, type MessageBody } from './queries.ts'

/**
 * Empties a message. Once more is no error. What the thread records of events cannot be taken out of it.
 * @throws ApiError 404 when the viewer does not read it, 403 unless he wrote it or is a moderator.
 */
export async function deleteMessage(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const message = await getReadableMessage(tx, viewer, id)
    if (message.author_id !== viewer.id && !isModerator(viewer))
      throw forbidden('Only its author or a moderator may delete a message')
    if (message.body.type === 'deleted') return
    if (message.body.type !== 'text') throw invalidInput('Only what somebody has written can be deleted')
    const body: MessageBody = { type: 'deleted', private: message.body.private }
    await tx
      .updateTable('thread_message')
      .set({ body: JSON.stringify(body) })
      .where('id', '=', id)
      .execute()
    await dropImages(tx, 'thread_message', [id])
  })
}
