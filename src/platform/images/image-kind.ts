// What kind of picture some bytes are, by their content; a name or an extension is only a claim.
import { invalidInput } from '#lib/errors.ts'

export type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp' | 'svg'

export const CONTENT_TYPES: Readonly<Record<ImageKind, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

const EXTENSIONS: Readonly<Record<string, ImageKind>> = {
  png: 'png',
  jpg: 'jpeg',
  jpeg: 'jpeg',
  gif: 'gif',
  webp: 'webp',
  svg: 'svg',
}

/**
 * The kind that the bytes are, which must be one of `allowed` and what the extension says.
 * @throws ApiError `invalid_input` naming `field`.
 */
export function checkKind(bytes: Uint8Array, ext: string, allowed: readonly ImageKind[], field: string): ImageKind {
  const claimed = Object.hasOwn(EXTENSIONS, ext) ? EXTENSIONS[ext] : undefined
  if (claimed === undefined || !allowed.includes(claimed)) {
    const known = Object.keys(EXTENSIONS).filter((word) => allowed.some((kind) => EXTENSIONS[word] === kind))
    throw invalidInput(`The extension of a picture must be one of ${known.join(', ')}`, field)
  }
  const actual = kindOf(bytes)
  if (actual === claimed) return actual
  const found = actual === undefined ? 'no picture of a known kind' : `a ${actual} picture`
  throw invalidInput(`The extension is ${ext}, but the bytes are ${found}`, field)
}

function kindOf(bytes: Uint8Array): ImageKind | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'webp'
  // Only a guess that it is meant to be SVG: the walk that follows decides.
  const text = head.replace(/^\xef\xbb\xbf/, '').trimStart()
  return /^<(\?xml|!--|!DOCTYPE\s+svg|svg[\s>/])/.test(text) ? 'svg' : undefined
}
