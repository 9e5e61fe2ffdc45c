// The wire shape of a picture inside texts, and what a request says of one.
import Type, { type Static } from 'typebox'
import { Timestamp } from '#lib/schema-parts.ts'
import { IMAGE_CONTEXTS, type ImageContext } from './queries.ts'

/** One key beside the others names what the picture belongs to; there is none while it waits to be used. */
export const ImageView = Type.Object(
  {
    id: Type.String(),
    url: Type.String({ description: 'Where the text points to' }),
    size: Type.Integer({ description: 'Bytes' }),
    created: Timestamp,
    owner_id: Type.String(),
    context: Type.Enum([...IMAGE_CONTEXTS]),
    project_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    version_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    report_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    thread_message_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { title: 'Image' },
)
export type ImageView = Static<typeof ImageView>

const PlaceId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'What it belongs to from the start, of the kind of the context',
  }),
)

export const ImageQuery = Type.Object({
  ext: Type.Enum(['png', 'jpg', 'jpeg', 'gif', 'webp'], { description: 'What the bytes are' }),
  context: Type.Enum([...IMAGE_CONTEXTS], { description: 'The kind of text it is for' }),
  project_id: PlaceId,
  version_id: PlaceId,
  report_id: PlaceId,
  thread_message_id: PlaceId,
})
export type ImageQuery = Static<typeof ImageQuery>

export type UploadedImage = {
  id: string
  url: string
  sizeBytes: number
  created: Date
  ownerId: string
  context: ImageContext
  placeId: string | undefined
}

export function toImageView(image: UploadedImage): ImageView {
  const { id, url, sizeBytes, created, ownerId, context, placeId } = image
  const about = { id, url, size: sizeBytes, created: created.toISOString(), owner_id: ownerId, context }
  return { ...about, [`${context}_id`]: placeId ?? null }
}
