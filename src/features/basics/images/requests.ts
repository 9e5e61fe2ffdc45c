import Type from 'typebox'

export const ExtQuery = Type.Object({
  ext: Type.String({
    maxLength: 16,
    describedAs: { enum: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg'] },
    description: 'Format of the image; case-insensitive',
  }),
})
