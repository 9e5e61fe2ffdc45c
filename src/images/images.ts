// The picture pipeline for icons and galleries: checked by content, bounded in pixels, made smaller, and its colour found.
import type { Sharp, SharpOptions } from 'sharp'
import { invalidInput } from '#lib/errors.ts'
import { CONTENT_TYPES, checkKind, type ImageKind } from './image-kind.ts'
import { cleanSvg } from './svg.ts'
import { createTurns } from './turns.ts'

export type StoredImage = { bytes: Buffer; ext: string; contentType: string }

export type ProcessedImage = {
  /** As uploaded; an SVG cleaned. */
  raw: StoredImage
  /** A scaled WebP, present only when it is smaller than `raw`; never for moving pictures. */
  optimized?: StoredImage
  /** The colour that most of the middle has, 0xRRGGBB; null when the picture shows nothing there. */
  color: number | null
}

export type ImageOptions = {
  /** The field that a faulty picture is reported under. */
  field?: string
  /** The field that a wrong extension is reported under; `field` where the extension is the file's own. */
  extField?: string
  /** Largest upload in bytes. */
  maxBytes?: number
}

export type Images = {
  /** png, jpg, jpeg, gif, webp or svg, up to 262,144 bytes; scaled to 96 pixels wide, tall ones cut to a square. */
  processIcon(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** png, jpg, jpeg, gif or webp, up to 5 MiB; scaled to 350 pixels wide. */
  processGalleryImage(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
}

type Rules = { kinds: ImageKind[]; maxBytes: number; maxPixels: number; width: number; square: boolean; field: string }

const ICON: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp', 'svg'],
  maxBytes: 262_144,
  maxPixels: 4096 * 4096,
  width: 96,
  square: true,
  field: 'icon',
}

const GALLERY: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp'],
  maxBytes: 5 * 1024 * 1024,
  maxPixels: 8192 * 5120,
  width: 350,
  square: false,
  field: 'image',
}

/** All frames of a moving picture together, which every reader's browser has to unpack. */
const MAX_MOVING_PIXELS = 256 * 1024 * 1024
const MAX_SECONDS = 15
const WEBP_QUALITY = 75

/**
 * At most `atOnce` pictures are worked on at a time, outside the event loop, and 64 wait. Both functions throw ApiError
 * `invalid_input` for a picture that is too large in bytes or pixels, cannot be decoded, or is not what `ext` says.
 */
export function createImages(atOnce = 8): Images {
  const turns = createTurns(atOnce, 64)
  const run =
    (rules: Rules) =>
    (bytes: Uint8Array, ext: string, options: ImageOptions = {}) => {
      const field = options.field ?? rules.field
      return turns(() => processImage(bytes, ext, rules, field, options.extField ?? 'ext', options.maxBytes))
    }
  return { processIcon: run(ICON), processGalleryImage: run(GALLERY) }
}

async function processImage(
  bytes: Uint8Array,
  ext: string,
  rules: Rules,
  field: string,
  extField: string,
  maxBytes = rules.maxBytes,
): Promise<ProcessedImage> {
  if (bytes.byteLength === 0) throw invalidInput('The picture is empty', field)
  if (bytes.byteLength > maxBytes) throw invalidInput(`The picture is larger than ${maxBytes} bytes`, field)
  const kind = checkKind(bytes, ext, rules.kinds, extField)
  const source =
    kind === 'svg'
      ? Buffer.from(await cleanSvg(decodeUtf8(bytes, field), field))
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const raw = { bytes: source, ext, contentType: CONTENT_TYPES[kind] }
  const { pixels, moving } = await scaled(source, rules, field)
  const color = dominantColor(pixels)
  if (moving || kind === 'gif') return { raw, color }
  const webp = await pixels.sharp.webp({ quality: WEBP_QUALITY }).toBuffer()
  if (webp.byteLength >= source.byteLength) return { raw, color }
  return { raw, optimized: { bytes: webp, ext: 'webp', contentType: 'image/webp' }, color }
}

function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidInput('The SVG is not UTF-8', field)
  }
}

type Pixels = { data: Buffer; width: number; height: number; sharp: Sharp }

/** Decodes the whole picture once, at its final size; the pixels serve both the colour and the encoder. */
async function scaled(source: Buffer, rules: Rules, field: string): Promise<{ pixels: Pixels; moving: boolean }> {
  const sharp = await loadSharp()
  const options: SharpOptions = { limitInputPixels: rules.maxPixels, failOn: 'error' }
  try {
    const { pages = 1, autoOrient } = await sharp(source, options).metadata()
    const { width, height } = autoOrient
    if (width * height > rules.maxPixels) throw tooManyPixels(rules, field)
    if (width * height * pages > MAX_MOVING_PIXELS) throw invalidInput('The moving picture has too many pixels', field)
    const image = sharp(source, options).autoOrient().timeout({ seconds: MAX_SECONDS })
    const side = Math.min(width, rules.width)
    if (rules.square && height > width) image.resize(side, side, { fit: 'cover', position: 'centre' })
    else image.resize({ width: side })
    const { data, info } = await image.toColourspace('srgb').ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const pixels = { data, width: info.width, height: info.height }
    return { pixels: { ...pixels, sharp: sharp(data, { raw: { ...pixels, channels: 4 } }) }, moving: pages > 1 }
  } catch (error) {
    if (error instanceof Error && error.name === 'ApiError') throw error
    if (error instanceof Error && /pixel limit/i.test(error.message)) throw tooManyPixels(rules, field)
    throw invalidInput('The picture cannot be decoded', field)
  }
}

function tooManyPixels(rules: Rules, field: string) {
  return invalidInput(`The picture has more than ${rules.maxPixels} pixels`, field)
}

/** Loaded with the first picture: the library's start costs more than the rest of the server's. */
async function loadSharp() {
  const { default: sharp } = await import('sharp')
  // One thread a picture, since several pictures are worked on at once; and nothing kept, since none comes twice.
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}

/** The mean of the fullest of 4096 equal cells of colour in the middle half of the picture. */
function dominantColor({ data, width, height }: Pixels): number | null {
  const counts = new Uint32Array(4096)
  const sums = new Float64Array(4096 * 3)
  const edge = (size: number) => Math.floor(size / 4)
  let best = -1
  for (let y = edge(height); y < height - edge(height); y += 1) {
    for (let x = edge(width); x < width - edge(width); x += 1) {
      const at = (y * width + x) * 4
      if ((data[at + 3] ?? 0) < 128) continue
      const [red, green, blue] = [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0]
      const cell = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4)
      const count = (counts[cell] ?? 0) + 1
      counts[cell] = count
      sums[cell * 3] = (sums[cell * 3] ?? 0) + red
      sums[cell * 3 + 1] = (sums[cell * 3 + 1] ?? 0) + green
      sums[cell * 3 + 2] = (sums[cell * 3 + 2] ?? 0) + blue
      if (best < 0 || count > (counts[best] ?? 0)) best = cell
    }
  }
  if (best < 0) return null
  const mean = (channel: number) => Math.round((sums[best * 3 + channel] ?? 0) / (counts[best] ?? 1))
  return (mean(0) << 16) | (mean(1) << 8) | mean(2)
}
