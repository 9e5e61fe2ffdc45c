// Processes uploaded images: checks their content and size, creates scaled copies, and finds the dominant colour.

import { createLimiter } from '#lib/concurrency/limiter.ts'
import { type ApiError, invalidInput } from '#lib/errors.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { createDrawSvg, type DrawSvg } from './draw-svg.ts'
import { CONTENT_TYPES, checkKind, type ImageKind, kindOf } from './image-kind.ts'
import { likenessOf } from './likeness.ts'
import { loadSharp, type Pixels, ScaleError, type ScaleRules, scale } from './scale.ts'
import { BrokenImage, stripMetadata } from './strip-metadata.ts'
import { cleanSvg } from './svg.ts'

export type StoredImage = { bytes: Buffer; ext: string; contentType: string }

/** WebP copy that is smaller than the original file. Copies of logos can be larger. */
export type ScaledCopy = {
  image: StoredImage
  /** Target width. A copy of a narrower image has the width of the image. */
  madeFor: number
}

export type ProcessedImage = {
  /** The upload with unchanged pixels and without metadata, or the sanitised SVG. */
  raw: StoredImage
  /** The copy for the smallest width. Absent for animated images. */
  optimized?: StoredImage
  /** All copies, the narrowest first. */
  copies: readonly ScaledCopy[]
  /** Size of `raw` in its correct orientation. Absent for SVGs and animated images. */
  size?: { width: number; height: number }
  /** Dominant colour of the centre (0xRRGGBB); null if the centre is transparent. */
  color: number | null
  /** Perceptual hash, 64 bits as text; null for plain images. */
  likeness: string | null
}

export type ImageOptions = {
  /** Field in the error for an invalid image. */
  field?: string
  /** Field in the error for a wrong extension. */
  extField?: string
  /** Maximum size in bytes. */
  maxBytes?: number
  /** Address key of the client. The queue takes images in turn from each client. */
  caller?: string
}

export type Images = {
  /** Accepts png, jpg, jpeg, gif, webp and svg up to 262,144 bytes. Scales to a width of 96 and crops tall images. */
  processIcon(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** Accepts png, jpg, jpeg, gif and webp up to 5 MiB. Creates those of the widths 350, 700 and 1400 that fit. */
  processPicture(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** Accepts square png, webp and svg up to 262,144 bytes. Creates those of the widths 96, 192 and 512 that fit. */
  processMark(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /** Accepts the same kinds as for galleries. Creates one copy. */
  processTextImage(bytes: Uint8Array, ext: string, options?: ImageOptions): Promise<ProcessedImage>
  /**
   * Accepts an image of another host: png, jpeg, gif, webp and svg up to 5 MiB and 4,096 pixels per side. Returns the file
   * to show: a WebP copy of at most 1,400 pixels if it is smaller, otherwise, and for animated images, the image without
   * metadata; for an SVG the sanitised SVG, which keeps its size and is sharp on every screen.
   */
  processExternal(bytes: Uint8Array, options?: ImageOptions): Promise<StoredImage>
}

/** `widths`: widths of copies in ascending order. `width`: the largest of them. */
type Rules = ScaleRules & {
  widths: readonly number[]
  kinds: ImageKind[]
  maxBytes: number
  field: string
  /** Requires a square still image, and stores larger copies too, for programs that cannot show SVGs. */
  isMark?: true
}

const ICON: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp', 'svg'],
  maxBytes: 262_144,
  maxPixels: 4096 * 4096,
  width: 96,
  widths: [96],
  square: true,
  field: 'icon',
}

const MARK: Rules = {
  kinds: ['png', 'webp', 'svg'],
  maxBytes: 262_144,
  maxPixels: 4096 * 4096,
  width: 512,
  widths: [96, 192, 512],
  square: false,
  drawsAtWidth: true,
  field: 'mark',
  isMark: true,
}

const PICTURE: Rules = {
  kinds: ['png', 'jpeg', 'gif', 'webp'],
  maxBytes: 5 * 1024 * 1024,
  maxPixels: 8192 * 5120,
  width: 1400,
  // Pages offer all these widths, and browsers choose.
  widths: [350, 700, 1400],
  square: false,
  field: 'image',
}

const EXTERNAL: Rules = {
  ...PICTURE,
  kinds: ['png', 'jpeg', 'gif', 'webp', 'svg'],
  maxPixels: 4096 * 4096,
  maxSide: 4096,
  widths: [1400],
}

const TEXT: Rules = { ...PICTURE, width: 350, widths: [350] }

const WEBP_QUALITY = 75

/**
 * Creates the processor. At most `concurrency` images are processed at a time, outside the event loop, and 64 wait. SVGs
 * are drawn in separate processes. All functions throw ApiError `invalid_input` if an image has too many bytes or pixels,
 * cannot be decoded, takes too long to draw or does not match `ext`, and 503 if the queue is full or the machine is busy.
 */
export function createImages(concurrency = 4): Images {
  const limiter = createLimiter({ running: concurrency, waiting: 64 })
  const drawSvg = createDrawSvg()
  const run =
    (rules: Rules) =>
    async (bytes: Uint8Array, ext: string, options: ImageOptions = {}) => {
      const field = options.field ?? rules.field
      const maxBytes = options.maxBytes ?? rules.maxBytes
      if (bytes.byteLength === 0) throw invalidInput('The image is empty', field)
      if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, field)
      const kind = checkKind(bytes, ext, rules.kinds, options.extField ?? 'ext')
      const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const { caller } = options
      const upload = { source, ext, rules, maxBytes, field, caller }
      try {
        if (kind === 'svg') return await processDrawing(upload, drawSvg)
        return await limiter.run(() => processPixels(upload, kind), caller)
      } catch (error) {
        throw toApiError(error, rules, field)
      }
    }
  const runExternal = run(EXTERNAL)
  return {
    processIcon: run(ICON),
    processPicture: run(PICTURE),
    processMark: run(MARK),
    processTextImage: run(TEXT),
    processExternal: async (bytes, options) => {
      const { raw, copies } = await runExternal(bytes, kindOf(bytes) ?? '', options)
      const canReplace = raw.contentType !== CONTENT_TYPES.svg && !isMovingPng(bytes)
      return (canReplace ? copies[0]?.image : undefined) ?? raw
    },
  }
}

/** Returns whether a PNG is animated. The library decodes only its first frame, so that a copy would not move. */
function isMovingPng(bytes: Uint8Array): boolean {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const control = content.indexOf('acTL', 0, 'latin1')
  return kindOf(bytes) === 'png' && control !== -1 && control < content.indexOf('IDAT', 0, 'latin1')
}

type Upload = { source: Buffer; ext: string; rules: Rules; maxBytes: number; field: string; caller: string | undefined }

async function processDrawing(
  { source, ext, rules, field, caller }: Upload,
  drawSvg: DrawSvg,
): Promise<ProcessedImage> {
  const clean = Buffer.from(await cleanSvg(decodeUtf8(source, field), field))
  const { maxPixels, maxSide, width, square, drawsAtWidth = false } = rules
  const limits = { maxPixels, ...(maxSide === undefined ? {} : { maxSide }), width, square, drawsAtWidth }
  const pixels = await drawSvg(clean, limits, { field, caller })
  if (rules.isMark) checkMark(pixels, { moving: false, field })
  return finish({ bytes: clean, ext, contentType: CONTENT_TYPES.svg }, pixels, rules)
}

async function processPixels(
  { source, ext, rules, maxBytes, field }: Upload,
  kind: Exclude<ImageKind, 'svg'>,
): Promise<ProcessedImage> {
  const bytes = stripMetadata(source, kind)
  // Removing metadata can add a missing padding byte.
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, field)
  // Decodes the bytes that are stored, so that both are validated.
  const { pixels, moving, size } = await scale(bytes, rules)
  if (rules.isMark) checkMark(pixels, { moving, field })
  const raw = { bytes, ext, contentType: CONTENT_TYPES[kind] }
  if (!moving && kind !== 'gif') return { ...(await finish(raw, pixels, rules)), size }
  const small = await resize(pixels, rules.widths[0])
  return { raw, copies: [], color: dominantColor(small), likeness: likenessOf(small) }
}

function checkMark({ width, height }: Pixels, { moving, field }: { moving: boolean; field: string }): void {
  if (moving) throw invalidInput('The image must not be animated', field)
  if (width !== height) throw invalidInput('The image must be square', field)
}

/** Creates the copies from pixels that are as wide as the largest copy or the image. */
async function finish(raw: StoredImage, pixels: Pixels, { widths, isMark }: Rules): Promise<ProcessedImage> {
  const [narrowest] = widths
  const copies: ScaledCopy[] = []
  let color: number | null = null
  let likeness: string | null = null
  for (const madeFor of widths.filter((width) => width === narrowest || width <= pixels.width)) {
    const copy = await resize(pixels, madeFor)
    if (madeFor === narrowest) {
      color = dominantColor(copy)
      likeness = likenessOf(copy)
    }
    const image = { bytes: await toWebp(copy), ext: 'webp', contentType: 'image/webp' }
    if (isMark || image.bytes.byteLength < raw.bytes.byteLength) copies.push({ image, madeFor })
  }
  const optimized = copies.find(({ madeFor }) => madeFor === narrowest)?.image
  return { raw, ...(optimized === undefined ? {} : { optimized }), copies, color, likeness }
}

/** Scales wider images down to this width. */
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
    throw invalidInput('The SVG is not valid UTF-8', field)
  }
}

/** Translates errors of decoding to API errors. */
function toApiError(error: unknown, { maxPixels }: Rules, field: string): unknown {
  if (!(error instanceof ScaleError || error instanceof BrokenImage)) return error
  const messages = {
    undecodable: 'The image cannot be decoded',
    too_many_pixels: `The image has more than ${maxPixels} pixels`,
    too_many_moving_pixels: 'The animated image has too many pixels',
  }
  return invalidInput(messages[error instanceof ScaleError ? error.kind : 'undecodable'], field)
}

function tooLarge(maxBytes: number, field: string): ApiError {
  return invalidInput(`The image is larger than ${describeBytes(maxBytes)}`, field)
}

/** Divides colours into 4,096 cells and returns the mean of the most frequent cell in the centre of the image. */
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
