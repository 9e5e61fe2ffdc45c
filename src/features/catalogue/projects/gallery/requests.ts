// What requests say of a gallery picture. It stands in the query, because the body is the picture.
import Type, { type Static } from 'typebox'
import { Ordering } from '#lib/schema/schema-parts.ts'
import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'

/** Bytes of one picture. */
export const GALLERY_BYTES_MAX = 5 * 1024 * 1024

/** What is said of a picture; an absent key keeps it as it is. */
export type PictureText = { name?: string; description?: string; featured?: boolean; ordering?: number }

const Caption = Type.Optional(
  Type.String({ minLength: 1, maxLength: 255, description: 'Caption; `name` and `title` mean the same' }),
)
const texts = {
  name: Caption,
  title: Caption,
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'Text below the caption' })),
  featured: Type.Optional(
    Type.Boolean({ description: 'Whether this is the featured image; it replaces the previous one' }),
  ),
  ordering: Type.Optional(Ordering),
}
export const NewPictureQuery = Type.Object({
  ext: Type.String({
    maxLength: 16,
    describedAs: { enum: ['png', 'jpg', 'jpeg', 'gif', 'webp'] },
    description: 'Format of the image, in any case',
  }),
  ...texts,
})
export const UrlQuery = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: '`url` of the image, as returned in the gallery',
  }),
})
export const PictureQuery = Type.Object({ ...UrlQuery.properties, ...texts })

/** `title` is another name of `name`, which wins. */
export function pictureText(query: Omit<Static<typeof PictureQuery>, 'url'>): PictureText {
  const { name = query.title, description, featured, ordering } = query
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(featured === undefined ? {} : { featured }),
    ...(ordering === undefined ? {} : { ordering }),
  }
}
