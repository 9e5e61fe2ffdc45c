// Lets users upload images for messages.

import type { ImageOwner } from '#features/basics/content-images/image-target.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { requireMessageEditor } from './policy.ts'
import { getReadableMessage } from './queries.ts'

/** Allows the author of the message and moderators. */
export function messageImages({ db }: { db: Db }): ImageOwner {
  return {
    scope: 'THREAD_WRITE',
    resolve: async (viewer, name) => {
      const id = parseId(name, 'thread_message_id')
      const message = await getReadableMessage(db, viewer, id)
      requireMessageEditor(viewer, message)
      if (message.body.type !== 'text') throw invalidInput('Images can only be added to a message with text')
      return id
    },
  }
}
