// Response schemas of saved replies.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { ReplyRow } from './queries.ts'

export const ReplyView = NamedObject('SavedReply', {
  id: Type.String(),
  topic: Type.String(),
  language: Type.String(),
  title: Type.String(),
  body: Type.String({ description: 'Markdown with placeholders' }),
  created: Timestamp,
  updated: Timestamp,
})

export const ReplyListView = NamedObject('SavedReplyList', {
  replies: Type.Array(ReplyView, { description: 'In the order that the moderators chose' }),
})

export const AddedRepliesView = NamedObject('AddedSavedReplies', {
  added: Type.Integer({ description: 'Number of added replies' }),
})

export const toReplyView = (row: ReplyRow): Static<typeof ReplyView> => toView(ReplyView, row)
