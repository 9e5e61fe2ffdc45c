// Detects the kind of an image by its content, because names and extensions can be wrong.
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

/** Returns the content type of an image by the extension of its name; undefined for other names. */
export function imageTypeOf(name: string): string | undefined {
  const kind = EXTENSIONS[name.slice(name.lastIndexOf('.') + 1)]
  return kind === undefined ? undefined : CONTENT_TYPES[kind]
}

/**
 * Returns the kind of an image, which must be allowed and match the extension.
 * @throws ApiError `invalid_input`
 */
export function checkKind(bytes: Uint8Array, ext: string, allowed: readonly ImageKind[], field: string): ImageKind {
  const claimed = Object.hasOwn(EXTENSIONS, ext) ? EXTENSIONS[ext] : undefined
  if (claimed === undefined || !allowed.includes(claimed)) {
    const names = Object.keys(EXTENSIONS).filter((name) => allowed.some((kind) => EXTENSIONS[name] === kind))
    throw invalidInput(`The extension of an image must be one of ${names.join(', ')}`, field)
  }
  const actual = kindOf(bytes)
  if (actual === claimed) return actual
  const content = actual === undefined ? 'not an image of a known kind' : `of kind ${actual}`
  throw invalidInput(`The extension is ${ext}, but the content is ${content}`, field)
}

/** Returns the kind of an image by its first bytes; undefined for other content. */
export function kindOf(bytes: Uint8Array): ImageKind | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'webp'
  // Only a guess: `cleanSvg` validates the SVG.
  const text = head.replace(/^\xef\xbb\xbf/, '').trimStart()
  return /^<(\?xml|!--|!DOCTYPE\s+svg|svg[\s>/])/.test(text) ? 'svg' : undefined
}
