// How a request names the pictures that its text takes along.
import Type from 'typebox'

const IMAGES_PER_TEXT_MAX = 10

/** IDs of pictures that wait (POST /v3/image) and belong to this text from now on. */
export const ImageIds = (text: string) =>
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: IMAGES_PER_TEXT_MAX,
    description: `IDs of waiting pictures (POST /v3/image) in the ${text}`,
  })
