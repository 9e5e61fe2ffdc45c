// What clients send of pictures in texts.
import Type, { type Static } from 'typebox'
import { ID_PATTERN } from '#lib/ids.ts'
import { Id } from '#lib/schema/schema-parts.ts'
import { IMAGE_CONTEXTS } from './queries.ts'

const IMAGES_PER_TEXT_MAX = 10

/** IDs of unused pictures (POST /v3/image) that belong to this text from now on: part of other bodies. */
export const ImageIds = (text: string) =>
  Type.Array(Id(), {
    maxItems: IMAGES_PER_TEXT_MAX,
    description: `IDs of unused images (POST /v3/image) that the ${text} shows`,
  })

const PlaceId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    describedAs: { pattern: ID_PATTERN },
    description: 'ID of the item to attach it to; only the one that matches the context',
  }),
)

export const ImageQuery = Type.Object({
  ext: Type.Enum(['png', 'jpg', 'jpeg', 'gif', 'webp'], { description: 'Format of the image' }),
  context: Type.Enum([...IMAGE_CONTEXTS], { description: 'Kind of text that will show the image' }),
  project_id: PlaceId,
  version_id: PlaceId,
  report_id: PlaceId,
  thread_message_id: PlaceId,
})
export type ImageQuery = Static<typeof ImageQuery>
