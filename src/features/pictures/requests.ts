// How a request names the format of an icon.
import Type from 'typebox'

export const ExtQuery = Type.Object({
  ext: Type.String({ maxLength: 16, description: 'png, jpg, jpeg, gif, webp or svg' }),
})
