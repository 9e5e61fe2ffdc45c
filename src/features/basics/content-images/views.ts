// The wire shape of a picture inside texts.
import Type, { type Static } from 'typebox'
import { Timestamp } from '#lib/schema/schema-parts.ts'
import { IMAGE_CONTEXTS, type ImageContext } from './queries.ts'

/** Of the last four keys the one of the context is there: what the picture belongs to, null while nothing uses it. */
export const ImageView = Type.Object(
  {
    id: Type.String(),
    url: Type.String({ description: 'Address to use in the text' }),
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
