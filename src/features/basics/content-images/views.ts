// Response schema of images inside texts.
import Type, { type Static } from 'typebox'
import { Timestamp } from '#lib/schema/schema-parts.ts'
import { IMAGE_CONTEXTS, type ImageContext } from './queries.ts'

/** Only the ID that matches the context is set; it is null if no text uses the image. */
export const ImageView = Type.Object(
  {
    id: Type.String(),
    url: Type.String({ description: 'URL to use in the text' }),
    size: Type.Integer({ description: 'Size in bytes' }),
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
  targetId: string | undefined
}

export function toImageView(image: UploadedImage): ImageView {
  const { id, url, sizeBytes, created, ownerId, context, targetId } = image
  const view = { id, url, size: sizeBytes, created: created.toISOString(), owner_id: ownerId, context }
  return { ...view, [`${context}_id`]: targetId ?? null }
}
