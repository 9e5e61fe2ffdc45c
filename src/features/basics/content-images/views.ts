// Response schema of images inside texts.
import Type, { type Static } from 'typebox'
import { Maybe, NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import { IMAGE_CONTEXTS } from './queries.ts'

/** Only the ID that matches the context is set; it is null if no text uses the image. */
export const ImageView = NamedObject('Image', {
  id: Type.String(),
  url: Type.String({ description: 'URL to use in the text' }),
  size: Type.Integer({ description: 'Size in bytes' }),
  created: Timestamp,
  owner_id: Type.String(),
  context: Type.Enum([...IMAGE_CONTEXTS]),
  project_id: Maybe(Type.String()),
  version_id: Maybe(Type.String()),
  report_id: Maybe(Type.String()),
  thread_message_id: Maybe(Type.String()),
})
export type ImageView = Static<typeof ImageView>
