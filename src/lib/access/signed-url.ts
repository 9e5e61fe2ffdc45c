// Paths of images of other hosts: `/external/{signature}/{URL}`. The signature proves that Depot has rendered the URL from a
// saved text, so that nobody can use an instance to fetch other URLs.
import { createHmac, timingSafeEqual } from 'node:crypto'

export const EXTERNAL_PATH = '/external/'
/** Maximum length of the URL of an image. Longer URLs become links. */
export const EXTERNAL_URL_MAX = 2_048
const SIGNATURE_BYTES = 16

const signatureOf = (key: Uint8Array, url: string): Buffer =>
  createHmac('sha256', key).update(url).digest().subarray(0, SIGNATURE_BYTES)

/** Returns the path of an image. `url`: normalised, as `URL.href` is. */
export function signedPath(key: Uint8Array, url: string): string {
  return `${EXTERNAL_PATH}${signatureOf(key, url).toString('base64url')}/${Buffer.from(url).toString('base64url')}`
}

/** Returns the URL of a path; undefined if its signature is wrong. */
export function readSignedPath(
  key: Uint8Array,
  { signature, encoded }: { signature: string; encoded: string },
): string | undefined {
  const url = Buffer.from(encoded, 'base64url').toString()
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(key, url)
  return given.length === expected.length && timingSafeEqual(given, expected) ? url : undefined
}
