// Response schemas of saved replies.
import Type, { type Static } from 'typebox'
import { Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { ReplyRow } from './queries.ts'

export const ReplyView = Type.Object(
  {
    id: Type.String(),
    topic: Type.String(),
    language: Type.String(),
    title: Type.String(),
    body: Type.String({ description: 'Markdown with placeholders' }),
    created: Timestamp,
    updated: Timestamp,
  },
  { title: 'SavedReply' },
)

export const ReplyListView = Type.Object(
  { replies: Type.Array(ReplyView, { description: 'In the order that the moderators chose' }) },
  { title: 'SavedReplyList' },
)

export const toReplyView = (row: ReplyRow): Static<typeof ReplyView> => toView(ReplyView, row)
