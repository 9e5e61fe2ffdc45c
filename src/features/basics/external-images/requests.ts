// Requests for images of other hosts.
import Type from 'typebox'
import { EXTERNAL_URL_MAX } from '#lib/access/signed-url.ts'
import { validationError } from '#lib/errors.ts'

export const ExternalImageParams = Type.Object({
  signature: Type.String({ maxLength: 64 }),
  encoded: Type.String({ maxLength: 4 * EXTERNAL_URL_MAX }),
})

export const ExternalImageBlock = Type.Object(
  { url: Type.String({ maxLength: EXTERNAL_URL_MAX, description: 'The https URL of the image, as in the text' }) },
  { title: 'ExternalImageBlock' },
)

/** Returns the URL in the form in which pages contain it. @throws ApiError `validation_error` */
export function parseImageUrl(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.href.length > EXTERNAL_URL_MAX)
    throw validationError('url', 'must be an https URL of at most 2,048 characters')
  return url.href
}
