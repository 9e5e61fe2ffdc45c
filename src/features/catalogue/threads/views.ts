// Response schemas of threads and messages.
import Type, { type Static } from 'typebox'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { UserView } from '#features/people/users/views.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { canSeeAuthor } from './policy.ts'
import type { MessageRow } from './queries.ts'
import type { UnansweredThread } from './unanswered-queries.ts'

const MessageBodyView = Type.Union([
  Type.Object({
    type: Type.Literal('text'),
    body: Type.String({ description: 'Markdown' }),
    private: Type.Boolean({ description: 'Whether only moderators can see the message' }),
    replying_to: Nullable(Type.String()),
    associated_images: Type.Array(Type.String(), { description: 'IDs of the images in the message' }),
  }),
  Type.Object({ type: Type.Literal('status_change'), old_status: Type.String(), new_status: Type.String() }),
  Type.Object({ type: Type.Enum(['thread_closure', 'thread_reopen']) }),
  Type.Object({ type: Type.Literal('deleted'), private: Type.Boolean() }),
])
type MessageBodyView = Static<typeof MessageBodyView>

export const ThreadMessageView = NamedObject('ThreadMessage', {
  id: Type.String(),
  author_id: Nullable(
    Type.String({ description: 'User ID; null for messages of moderators unless the caller is a moderator' }),
  ),
  body: MessageBodyView,
  appeal: Type.Optional(
    Type.Enum(['made', 'accepted', 'rejected'], {
      description:
        'Part of an appeal. `made`: its text. `accepted`: the status change that accepted it. `rejected`: the answer of ' +
        'a moderator who rejected it',
    }),
  ),
  created: Timestamp,
  hide_identity: Type.Boolean({ description: 'Whether only moderators can see the author' }),
})
export type ThreadMessageView = Static<typeof ThreadMessageView>

export const ThreadView = NamedObject('ModerationThread', {
  id: Type.String(),
  type: Type.Enum(['project', 'report', 'direct_message']),
  project_id: Nullable(Type.String({ description: 'ID of the project; null after its deletion' })),
  report_id: Nullable(Type.String()),
  messages: Type.Array(ThreadMessageView, { description: 'Oldest first' }),
  members: Type.Array(UserView, { description: 'Authors of messages whose identity the caller can see' }),
})

/** Returns the views of one thread's messages. Omits the ID of a replied-to message that the viewer cannot read. */
export function toMessageViews(rows: readonly MessageRow[], viewer: Viewer): ThreadMessageView[] {
  const shown = new Set(rows.map(({ id }) => id))
  return rows.map((row) => ({
    id: row.id,
    author_id: canSeeAuthor(viewer, row) ? row.author_id : null,
    body: toBodyView(row, shown),
    ...('appeal' in row.body && row.body.appeal !== undefined ? { appeal: row.body.appeal } : {}),
    created: row.created.toISOString(),
    hide_identity: row.hide_identity,
  }))
}

function toBodyView({ body, image_ids }: MessageRow, shown: ReadonlySet<string>): MessageBodyView {
  if (body.type === 'status_change')
    return { type: body.type, old_status: body.old_status, new_status: body.new_status }
  if (body.type !== 'text') return body
  const replyingTo = body.replying_to !== null && shown.has(body.replying_to) ? body.replying_to : null
  const { appeal: _, ...text } = body
  return { ...text, replying_to: replyingTo, associated_images: image_ids ?? [] }
}

const UnansweredThreadView = NamedObject('UnansweredThread', {
  id: Type.String(),
  type: Type.Enum(['project', 'report']),
  project: Nullable(
    Type.Object({ id: Type.String(), slug: Type.String(), name: Type.String(), status: Type.String() }),
  ),
  report: Nullable(
    Type.Object({
      id: Type.String(),
      report_type: Type.String(),
      item_type: Type.String(),
      item_id: Type.String(),
      closed: Type.Boolean(),
    }),
  ),
  since: { ...Timestamp, description: 'Time of the first unanswered message' },
  author: Nullable(Type.String({ description: 'Username of its author' })),
  text: Type.String({ description: 'First 400 characters of the message, in Markdown' }),
})

export const UnansweredThreadsView = NamedObject('UnansweredThreads', {
  total: Type.Integer(),
  threads: Type.Array(UnansweredThreadView),
})

export const toUnansweredView = (row: UnansweredThread) => toView(UnansweredThreadView, row)
