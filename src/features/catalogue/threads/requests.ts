// The request to post a message to a thread.
import Type, { type Static } from 'typebox'
import { ImageIds } from '#features/basics/content-images/requests.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { Id, NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { Offset } from '#platform/http/query-values.ts'

const TEXT_LENGTH_MAX = 65_536

/** The body of POST /v3/thread/{id}. */
export const MessageInput = NamedObject('ThreadMessageCreate', {
  body: Type.Object({
    type: Type.Enum(['text'], { description: 'Clients can create only text messages' }),
    body: Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'Markdown' }),
    private: Type.Optional(
      Nullable(
        Type.Boolean({
          description: 'Whether only moderators can see the message; only moderators can set it. Default: false',
        }),
      ),
    ),
    replying_to: Type.Optional(Nullable(Id('ID of a message in the same thread'))),
    associated_images: Type.Optional(Nullable(ImageIds('text'))),
  }),
})

export type NewText = { text: string; isPrivate: boolean; replyingTo: string | null; imageIds: string[] }

/** @throws ApiError `validation_error` naming the field. */
export function parseMessage({ body }: Static<typeof MessageInput>): NewText {
  if (isBlank(body.body)) throw validationError('body.body', 'must not be blank')
  const replyingTo = body.replying_to ?? null
  if (replyingTo !== null && !isIdForm(replyingTo))
    throw validationError('body.replying_to', 'is not a base62 identifier')
  const imageIds = [...new Set(body.associated_images ?? [])]
  return { text: body.body, isPrivate: body.private ?? false, replyingTo, imageIds }
}

export const UnansweredQuery = Type.Object({
  type: Type.Optional(Type.Enum(['project', 'report'], { description: 'Kind of the threads' })),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 50, description: 'Page size' })),
  offset: Offset,
})
