// Rows of saved replies.
import type { Selectable } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { SavedReply } from '#platform/db/schema.ts'
import { REPLIES_MAX } from './requests.ts'

export type ReplyRow = Selectable<SavedReply>

/** Returns the saved replies of the instance in their order. */
export function listReplies(
  db: Db,
  { topic, language }: { topic?: string | undefined; language?: string | undefined } = {},
): Promise<ReplyRow[]> {
  return db
    .selectFrom('saved_reply')
    .selectAll()
    .$if(topic !== undefined, (query) => query.where('topic', '=', topic ?? ''))
    .$if(language !== undefined, (query) => query.where('language', '=', language ?? ''))
    .orderBy('position')
    .orderBy('id')
    .limit(REPLIES_MAX)
    .execute()
}
