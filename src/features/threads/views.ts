// The wire shapes of a thread and its messages (facts/people.md 1.0), as far as each viewer may read them.
import Type, { type Static } from 'typebox'
import { ImageIds } from '#features/content-images/image-ids.ts'
import { UserView } from '#features/users/views.ts'
import { joinJson } from '#lib/json-bytes.ts'
import { writeJsonArray } from '#lib/json-pieces.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import type { Viewer } from '#lib/viewer.ts'
import { canSeeAuthor } from './policy.ts'
import type { MessageRow, ThreadRow } from './queries.ts'

const MessageBodyView = Type.Union([
  Type.Object({
    type: Type.Literal('text'),
    body: Type.String({ description: 'Markdown' }),
    private: Type.Boolean({ description: 'Read by moderators only' }),
    replying_to: Nullable(Type.String()),
    associated_images: Type.Array(Type.String(), { description: 'IDs of its pictures' }),
  }),
  Type.Object({ type: Type.Literal('status_change'), old_status: Type.String(), new_status: Type.String() }),
  Type.Object({ type: Type.Enum(['thread_closure', 'thread_reopen']) }),
  Type.Object({ type: Type.Literal('deleted'), private: Type.Boolean() }),
])
type MessageBodyView = Static<typeof MessageBodyView>

export const ThreadMessageView = Type.Object(
  {
    id: Type.String(),
    author_id: Nullable(Type.String({ description: 'Null where a moderator has written, for others than moderators' })),
    body: MessageBodyView,
    created: Timestamp,
    hide_identity: Type.Boolean({ description: 'Whether others than moderators read it without its author' }),
  },
  { title: 'ThreadMessage' },
)
export type ThreadMessageView = Static<typeof ThreadMessageView>

export const ThreadView = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(['project', 'report', 'direct_message']),
    project_id: Nullable(Type.String({ description: 'Null once the project is deleted' })),
    report_id: Nullable(Type.String()),
    messages: Type.Array(ThreadMessageView, { description: 'Oldest first' }),
    members: Type.Array(UserView, { description: 'The authors whom the viewer may know' }),
  },
  { title: 'Thread' },
)

const TEXT_LENGTH_MAX = 65_536

/** The body of POST /v3/thread/{id}. */
export const MessageInput = Type.Object(
  {
    body: Type.Object({
      type: Type.Enum(['text'], { description: 'Other kinds are written by what happens' }),
      body: Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'Markdown' }),
      private: Type.Optional(
        Nullable(Type.Boolean({ description: 'Read by moderators only; they alone may ask for it' })),
      ),
      replying_to: Type.Optional(Nullable(Type.String({ maxLength: 64, description: 'A message of the same thread' }))),
      associated_images: Type.Optional(Nullable(ImageIds('text'))),
    }),
  },
  { title: 'MessageInput' },
)
export type MessageInput = Static<typeof MessageInput>['body']

/** The messages of one thread as the viewer reads them; an answer to one that he does not read names nothing. */
export function toMessageViews(rows: readonly MessageRow[], viewer: Viewer): ThreadMessageView[] {
  const shown = new Set(rows.map(({ id }) => id))
  return rows.map((row) => ({
    id: row.id,
    author_id: canSeeAuthor(viewer, row) ? row.author_id : null,
    body: toBodyView(row, shown),
    created: row.created.toISOString(),
    hide_identity: row.hide_identity,
  }))
}

function toBodyView({ body, image_ids }: MessageRow, shown: ReadonlySet<string>): MessageBodyView {
  switch (body.type) {
    case 'text': {
      const replyingTo = body.replying_to !== null && shown.has(body.replying_to) ? body.replying_to : null
      return {
        type: 'text',
        body: body.body,
        private: body.private,
        replying_to: replyingTo,
        associated_images: image_ids ?? [],
      }
    }
    case 'status_change':
      return { type: 'status_change', old_status: body.old_status, new_status: body.new_status }
    case 'thread_closure':
    case 'thread_reopen':
      return { type: body.type }
    case 'deleted':
      return { type: 'deleted', private: body.private }
  }
}

/** A thread as bytes: its members are ready bytes already. */
export async function toThreadBytes(
  thread: ThreadRow,
  messages: readonly ThreadMessageView[],
  members: readonly { bytes: Uint8Array }[],
): Promise<Buffer> {
  const { id, type, project_id, report_id } = thread
  const head = JSON.stringify({ id, type, project_id, report_id }).slice(0, -1)
  const body = await writeJsonArray(messages, (message) => message)
  return Buffer.concat([
    Buffer.from(`${head},"messages":`),
    body,
    Buffer.from(',"members":'),
    joinJson(members),
    Buffer.from('}'),
  ])
}
