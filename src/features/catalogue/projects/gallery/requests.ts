// Query parameters that describe a gallery image. They are in the query because the body is the image.
import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { Ordering } from '#lib/schema/schema-parts.ts'
import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { videoOf } from '#lib/text/video-links.ts'

/** Maximum size of one image, in bytes. */
export const GALLERY_BYTES_MAX = 5 * 1024 * 1024

const Caption = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Caption. `name` and `title` are aliases; if both are set, `name` applies',
  }),
)
const VIDEO = 'Link to a video of YouTube or Vimeo; the image is its preview'
const Video = Type.Optional(Type.String({ maxLength: URL_LENGTH_MAX, description: VIDEO }))
const fields = {
  name: Caption,
  title: Caption,
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'Text below the caption' })),
  featured: Type.Optional(
    Type.Boolean({ description: 'Whether the image is featured; it replaces the previous featured image' }),
  ),
  ordering: Type.Optional(Ordering),
  video: Video,
}
export const NewImageQuery = Type.Object({
  ext: Type.String({
    maxLength: 16,
    describedAs: { enum: ['png', 'jpg', 'jpeg', 'gif', 'webp'] },
    description: 'Format of the image; case does not matter',
  }),
  ...fields,
})
export const UrlQuery = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: '`url` of the image, as returned in the gallery',
  }),
})
const CLEARS = 'An empty text removes it'
const EditedCaption = Type.Optional(
  Type.String({ maxLength: 255, description: `Caption, also as \`name\` or \`title\`; \`name\` applies. ${CLEARS}` }),
)
export const ImageQuery = Type.Object({
  ...UrlQuery.properties,
  ...fields,
  name: EditedCaption,
  title: EditedCaption,
  description: Type.Optional(Type.String({ maxLength: 2048, description: `Text below the caption. ${CLEARS}` })),
  video: Type.Optional(Type.String({ maxLength: URL_LENGTH_MAX, description: `${VIDEO}. ${CLEARS}` })),
})

type Sent = { name?: string | null; title?: string | null; description?: string | null; video?: string | null }

/**
 * Returns the columns that a request sets; undefined leaves a column unchanged, an empty text clears it.
 * @throws ApiError `invalid_input` if `video` leads to no video
 */
export function toGalleryImageFields(sent: Sent & { featured?: boolean; ordering?: number }) {
  const { name, title, description, featured, ordering, video } = sent
  const orNull = (text: string | null | undefined) => (text === '' ? null : text)
  return { name: orNull(name ?? title), description: orNull(description), featured, ordering, video: toVideo(video) }
}

function toVideo(link: string | null | undefined): string | null | undefined {
  if (link === undefined || link === null || link === '') return link === undefined ? undefined : null
  const video = videoOf(link)
  if (video === undefined) throw invalidInput('The link must lead to a video of YouTube or Vimeo', 'video')
  return video.url
}
export type GalleryImageFields = ReturnType<typeof toGalleryImageFields>
