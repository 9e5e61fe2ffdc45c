// Requests that upload images or name uploaded ones.
import Type, { type Static } from 'typebox'
import { ID_PATTERN } from '#lib/ids.ts'
import { Id } from '#lib/schema/schema-parts.ts'
import { IMAGE_CONTEXTS } from './queries.ts'

const IMAGES_PER_TEXT_MAX = 10

/** Request field with the images that a new text contains. */
export const ImageIds = (text: string) =>
  Type.Array(Id(), {
    maxItems: IMAGES_PER_TEXT_MAX,
    description: `IDs of unused images (POST /v3/image) that the ${text} contains`,
  })

const TargetId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    describedAs: { pattern: ID_PATTERN },
    description: 'ID of the resource that the image belongs to; only the field that matches `context` is allowed',
  }),
)

export const ImageQuery = Type.Object({
  ext: Type.Enum(['png', 'jpg', 'jpeg', 'gif', 'webp'], { description: 'Format of the image' }),
  context: Type.Enum([...IMAGE_CONTEXTS], { description: 'Kind of text that will show the image' }),
  project_id: TargetId,
  version_id: TargetId,
  report_id: TargetId,
  thread_message_id: TargetId,
})
export type ImageQuery = Static<typeof ImageQuery>
