// Requests to create, edit and order saved replies.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'

const TOPIC = { min: 1, max: 64, visible: true }
const TITLE = { min: 1, max: 128, visible: true }
const BODY = { min: 1, max: 8_192, visible: true }
/** Maximum number of saved replies of an instance. */
export const REPLIES_MAX = 500
/** Placeholders that pages replace when a moderator inserts a reply. */
const PLACEHOLDERS =
  '`{project}`, `{version}`, `{file}`, `{link}` (address of the project) and `{rule}` (link to the rules)'

const Topic = Type.String({ minLength: TOPIC.min, maxLength: TOPIC.max, description: 'Group in which pages list it' })
const Language = Type.String({
  minLength: 2,
  maxLength: 35,
  pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
  description: 'Language of the text as a BCP 47 tag',
  examples: ['en', 'de'],
})
const Title = Type.String({ minLength: TITLE.min, maxLength: TITLE.max })
const Body = Type.String({
  minLength: BODY.min,
  maxLength: BODY.max,
  description: `Markdown. Pages replace ${PLACEHOLDERS} when a moderator inserts the text`,
})

export const NewReply = NamedObject('SavedReplyCreate', { topic: Topic, language: Language, title: Title, body: Body })
export type NewReply = Static<typeof NewReply>

export const ReplyPatch = Type.Partial(NewReply, { title: 'SavedReplyUpdate' })
export type ReplyPatch = Static<typeof ReplyPatch>

/** @throws ApiError `validation_error` naming the field. */
export function checkReply<Fields extends ReplyPatch>(fields: Fields): Fields {
  const limits = { topic: TOPIC, title: TITLE, body: BODY } as const
  for (const field of ['topic', 'title', 'body'] as const) {
    const value = fields[field]
    if (value !== undefined) checkText(value, field, limits[field])
  }
  return fields
}

export const ReplyOrder = NamedObject('SavedReplyOrder', {
  ids: Type.Array(Id(), { maxItems: REPLIES_MAX, description: 'IDs of all saved replies, in the new order' }),
})

/** @throws ApiError `validation_error` if an ID occurs twice. */
export function parseOrder({ ids }: Static<typeof ReplyOrder>): string[] {
  if (new Set(ids).size < ids.length) throw validationError('ids', 'must not contain an ID twice')
  return ids
}

export const RepliesQuery = Type.Object({
  topic: Type.Optional(Type.String({ maxLength: TOPIC.max, description: 'Only the replies of this topic' })),
  language: Type.Optional(Type.String({ maxLength: 35, description: 'Only the replies in this language' })),
})
