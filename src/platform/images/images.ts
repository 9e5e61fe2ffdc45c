// The picture pipeline for icons and galleries: checked by content, bounded in pixels, made smaller, and its colour found.

import { createLimiter } from '#lib/concurrency/limiter.ts'
import { type ApiError, invalidInput } from '#lib/errors.ts'
import { createDrawSvg, type DrawSvg } from './draw-svg.ts'
import { CONTENT_TYPES, checkKind, type ImageKind } from './image-kind.ts'
import { loadSharp, type Pixels, ScaleError, type ScaleRules, scale } from './scale.ts'
import { BrokenPicture, stripMetadata } from './strip-metadata.ts'
import { cleanSvg } from './svg.ts'

export type StoredImage = { bytes: Buffer; ext: string; contentType: string }

/** A WebP that is smaller than the picture it was made from; of marks there may be larger ones. */
export type ScaledCopy = {
  image: StoredImage
  /** The width that it was made for; a narrower picture keeps its own. */
  madeFor: number
}

export type ProcessedImage = {
  /** As uploaded, pixel for pixel, without what its camera and its editors wrote beside them; an SVG cleaned. */
  raw: StoredImage
  /** The copy for the smallest width, where there is one; never for moving pictures. */
  optimized?: StoredImage
  /** All copies, the narrowest first. */
  copies: readonly ScaledCopy[]
  /** Of `raw`, the right way up; absent for drawings and moving pictures. */
  size?: { width: number; height: number }
  /** The colour that most of the middle has, 0xRRGGBB; null when the picture shows nothing there. */
  color: number | null
}

export type ImageOptions = {
  /** The field that an invalid picture is reported under. */
  field?: string
  /** The field that a wrong extension is reported under; `field` where the extension is the file's own. */
  extField?: string
  /** Largest upload in bytes. */
  maxBytes?: number
  /** Who uploads, as the key of an address: pictures wait fairly between callers. */
  caller?: string
}

export type Images = {
  /** png, jpg, jpeg, gif, webp or svg, up to 262,144 bytes; scaled to 96 pixels wide, tall ones cut to a square. */
  processIcon(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** png, jpg, jpeg, gif or webp, up to 5 MiB; scaled to 350, 700 and 1400 pixels wide, as far as it is that wide. */
  processGalleryImage(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** png, webp or svg, square and still, up to 262,144 bytes; copies of 96, 192 and 512 pixels, as far as it is that wide. */
  processMark(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** The same kinds for pictures inside texts, of which there are no copies but one. */
  processTextImage(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
}

/** `width` is the largest of `widths`, which are the widths of copies in ascending order. */
type Rules = ScaleRules & {
  widths: readonly number[]
  kinds: ImageKind[]
  maxBytes: number
  field: string
  /** Refuses what is not square or moves, and keeps copies that are larger: programs ask for them that draw no SVG. */
  isMark?: true
}

/** The widths of gallery pictures; a page offers them all and browsers choose. */
const GALLERY_WIDTHS = [350, 700, 1400] as const
/** The width of icons. */
const ICON_WIDTH = 96

const ICON: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp', 'svg'],
  maxBytes: 262_144,
  maxPixels: 4096 * 4096,
  width: ICON_WIDTH,
  widths: [ICON_WIDTH],
  square: true,
  field: 'icon',
}

const MARK_WIDTHS = [96, 192, 512] as const

const MARK: Rules = {
  kinds: ['png', 'webp', 'svg'],
  maxBytes: 262_144,
  maxPixels: 4096 * 4096,
  width: 512,
  widths: MARK_WIDTHS,
  square: false,
  drawsAtWidth: true,
  field: 'mark',
  isMark: true,
}

const GALLERY: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp'],
  maxBytes: 5 * 1024 * 1024,
  maxPixels: 8192 * 5120,
  width: 1400,
  widths: GALLERY_WIDTHS,
  square: false,
  field: 'image',
}

const TEXT: Rules = { ...GALLERY, width: 350, widths: [350] }

const WEBP_QUALITY = 75

/**
 * At most `atOnce` pictures are worked on at a time, outside the event loop, and 64 wait; drawings are drawn in
 * processes of their own. All functions throw ApiError `invalid_input` for a picture that is too large in bytes or
 * pixels, cannot be decoded, takes too long to draw, or is not what `ext` says, and 503 when too many wait or the
 * machine is too busy to draw.
 */
export function createImages(atOnce = 4): Images {
  const limiter = createLimiter({ running: atOnce, waiting: 64 })
  const drawSvg = createDrawSvg()
  const run =
    (rules: Rules) =>
    async (bytes: Uint8Array, ext: string, options: ImageOptions = {}) => {
      const field = options.field ?? rules.field
      const maxBytes = options.maxBytes ?? rules.maxBytes
      if (bytes.byteLength === 0) throw invalidInput('The picture is empty', field)
      if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, field)
      const kind = checkKind(bytes, ext, rules.kinds, options.extField ?? 'ext')
      const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const { caller } = options
      const upload = { source, ext, rules, maxBytes, field, caller }
      try {
        if (kind === 'svg') return await processDrawing(upload, drawSvg)
        return await limiter.run(() => processPixels(upload, kind), caller)
      } catch (error) {
        throw refusal(error, rules, field)
      }
    }
  return {
    processIcon: run(ICON),
    processGalleryImage: run(GALLERY),
    processMark: run(MARK),
    processTextImage: run(TEXT),
  }
}

type Upload = { source: Buffer; ext: string; rules: Rules; maxBytes: number; field: string; caller: string | undefined }

async function processDrawing(
  { source, ext, rules, field, caller }: Upload,
  drawSvg: DrawSvg,
): Promise<ProcessedImage> {
  const clean = Buffer.from(await cleanSvg(decodeUtf8(source, field), field))
  const { maxPixels, width, square, drawsAtWidth = false } = rules
  const pixels = await drawSvg(clean, { maxPixels, width, square, drawsAtWidth }, { field, caller })
  if (rules.isMark) checkMark(pixels, { moving: false, field })
  return finish({ bytes: clean, ext, contentType: CONTENT_TYPES.svg }, pixels, rules)
}

async function processPixels(
  { source, ext, rules, maxBytes, field }: Upload,
  kind: Exclude<ImageKind, 'svg'>,
): Promise<ProcessedImage> {
  const bytes = stripMetadata(source, kind)
  // A byte that its writer forgot may have been added.
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, field)
  // What is decoded is what is stored.
  const { pixels, moving, size } = await scale(bytes, rules)
  if (rules.isMark) checkMark(pixels, { moving, field })
  const raw = { bytes, ext, contentType: CONTENT_TYPES[kind] }
  if (!moving && kind !== 'gif') return { ...(await finish(raw, pixels, rules)), size }
  return { raw, copies: [], color: dominantColor(await resize(pixels, rules.widths[0])) }
}

function checkMark({ width, height }: Pixels, { moving, field }: { moving: boolean; field: string }): void {
  if (moving) throw invalidInput('The picture must not move', field)
  if (width !== height) throw invalidInput('The picture must be as high as it is wide', field)
}

/** Makes the copies for the widths out of the pixels, which are as wide as the largest of them or the whole picture. */
async function finish(raw: StoredImage, pixels: Pixels, { widths, isMark }: Rules): Promise<ProcessedImage> {
  const [narrowest] = widths
  const copies: ScaledCopy[] = []
  let color: number | null = null
  for (const madeFor of widths.filter((width) => width === narrowest || width <= pixels.width)) {
    const copy = await resize(pixels, madeFor)
    if (madeFor === narrowest) color = dominantColor(copy)
    const image = { bytes: await toWebp(copy), ext: 'webp', contentType: 'image/webp' }
    if (isMark || image.bytes.byteLength < raw.bytes.byteLength) copies.push({ image, madeFor })
  }
  const optimized = copies.find(({ madeFor }) => madeFor === narrowest)?.image
  return { raw, ...(optimized === undefined ? {} : { optimized }), copies, color }
}

/** Scaled down to this width; a narrower picture stays as it is. */
async function resize(pixels: Pixels, to = pixels.width): Promise<Pixels> {
  if (pixels.width <= to) return pixels
  const { data, width, height } = pixels
  const sharp = await loadSharp()
  const scaled = await sharp(data, { raw: { width, height, channels: 4 } })
    .resize(to, Math.max(1, Math.round((height * to) / width)), { fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data: scaled.data, width: scaled.info.width, height: scaled.info.height }
}

async function toWebp({ data, width, height }: Pixels): Promise<Buffer> {
  const sharp = await loadSharp()
  return sharp(data, { raw: { width, height, channels: 4 } })
    .webp({ quality: WEBP_QUALITY })
    .toBuffer()
}

function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidInput('The SVG is not UTF-8', field)
  }
}

/** What is said of a picture that was refused on the way; anything else as it is. */
function refusal(error: unknown, { maxPixels }: Rules, field: string): unknown {
  if (error instanceof BrokenPicture) return undecodable(field)
  if (!(error instanceof ScaleError)) return error
  switch (error.kind) {
    case 'undecodable':
      return undecodable(field)
    case 'too_many_pixels':
      return invalidInput(`The picture has more than ${maxPixels} pixels`, field)
    case 'too_many_moving_pixels':
      return invalidInput('The moving picture has too many pixels', field)
  }
}

function tooLarge(maxBytes: number, field: string): ApiError {
  return invalidInput(`The picture is larger than ${maxBytes} bytes`, field)
}

function undecodable(field: string): ApiError {
  return invalidInput('The picture cannot be decoded', field)
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
