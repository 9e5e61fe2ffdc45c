// How a request names the format of an icon.
import Type from 'typebox'

export const ExtQuery = Type.Object({
  ext: Type.String({
    maxLength: 16,
    describedAs: { enum: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg'] },
    description: 'Format of the image, in any case',
  }),
})
