// Creates threads, reports and images for tests of moderation by SQL, and reads their results.
import { sql } from 'kysely'
import { newId } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'

type Account = { id: string }

export type MessageView = {
  id: string
  author_id: string | null
  hide_identity: boolean
  created: string
  body: {
    type: string
    body?: string
    private?: boolean
    replying_to?: string | null
    associated_images?: string[]
    old_status?: string
    new_status?: string
  }
}
export type ThreadView = {
  id: string
  type: string
  project_id: string | null
  report_id: string | null
  messages: MessageView[]
  members: { id: string }[]
}

export function conversationFactories(db: Db) {
  /** The thread of a project that a factory made without one. */
  async function projectThread(projectId: string): Promise<string> {
    const id = newId()
    await db.insertInto('thread').values({ id, type: 'project', project_id: projectId }).execute()
    return id
  }

  /** An open report about a user with its thread. */
  async function report(
    reporter: Account,
    fields: { item?: Account; closed?: boolean; created?: Date } = {},
  ): Promise<{ id: string; threadId: string }> {
    const [id, threadId] = [newId(), newId()]
    const { item = reporter, ...rest } = fields
    await db
      .insertInto('report')
      .values({
        id,
        report_type: 'spam',
        item_type: 'user',
        item_id: item.id,
        account_id: item.id,
        reporter_id: reporter.id,
        body: 'Look at this',
        ...rest,
      })
      .execute()
    await db.insertInto('thread').values({ id: threadId, type: 'report', report_id: id }).execute()
    return { id, threadId }
  }

  async function message(
    threadId: string,
    author: Account,
    fields: { body?: string; private?: boolean } = {},
  ): Promise<string> {
    const id = newId()
    const body = { type: 'text', body: 'Hello', private: false, replying_to: null, ...fields }
    await db
      .insertInto('thread_message')
      .values({
        id,
        thread_id: threadId,
        author_id: author.id,
        body: JSON.stringify(body),
        hide_identity: body.private,
      })
      .execute()
    return id
  }

  /** The bodies of an account's notifications, oldest first. */
  async function notificationsOf(account: Account): Promise<Record<string, unknown>[]> {
    const rows = await db
      .selectFrom('notification')
      .select('body')
      .where('account_id', '=', account.id)
      .orderBy('created')
      .orderBy(sql`body ->> 'type'`)
      .execute()
    return rows.map(({ body }) => body as Record<string, unknown>)
  }

  return { projectThread, report, message, notificationsOf }
}

export type ConversationFactories = ReturnType<typeof conversationFactories>
