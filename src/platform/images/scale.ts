// Decodes an image once, at the size in which it is shown. Runs in the server for pixel images, and in a separate process
// for SVGs (draw-svg.ts).
import type { SharpOptions } from 'sharp'

export type ScaleRules = {
  /** Maximum width times height of one frame. */
  maxPixels: number
  /** Maximum width and maximum height. */
  maxSide?: number
  /** Width to which wider images are scaled. */
  width: number
  /** Whether to crop images that are taller than wide to a square. */
  square: boolean
  /** Whether to draw narrower SVGs at `width`, because they are sharp at any size. */
  drawsAtWidth?: boolean
}

/** Pixels per inch for SVG lengths without a unit. */
const DEFAULT_DENSITY = 72

/** Four bytes per pixel: red, green, blue, alpha. */
export type Pixels = { data: Buffer; width: number; height: number }

export const SCALE_ERROR_KINDS = ['undecodable', 'too_many_pixels', 'too_many_moving_pixels'] as const
export type ScaleErrorKind = (typeof SCALE_ERROR_KINDS)[number]

export class ScaleError extends Error {
  readonly kind: ScaleErrorKind

  constructor(kind: ScaleErrorKind, options?: ErrorOptions) {
    super(kind, options)
    this.kind = kind
  }
}

/** Maximum for all frames of an animated image, because every browser must decode them. */
const MAX_MOVING_PIXELS = 256 * 1024 * 1024
const MAX_SECONDS = 15

/** Decodes and scales an image. @throws ScaleError */
export async function scale(
  source: Buffer,
  { maxPixels, maxSide = Number.POSITIVE_INFINITY, width: shownWidth, square, drawsAtWidth = false }: ScaleRules,
): Promise<{ pixels: Pixels; moving: boolean; size: { width: number; height: number } }> {
  const sharp = await loadSharp()
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: 'error' }
  try {
    const { pages = 1, autoOrient, format } = await sharp(source, options).metadata()
    const { width, height } = autoOrient
    if (width * height > maxPixels || Math.max(width, height) > maxSide) throw new ScaleError('too_many_pixels')
    if (width * height * pages > MAX_MOVING_PIXELS) throw new ScaleError('too_many_moving_pixels')
    const grows = drawsAtWidth && format === 'svg' && width < shownWidth
    const density = grows ? { density: (DEFAULT_DENSITY * shownWidth) / width } : {}
    const image = sharp(source, { ...options, ...density })
      .autoOrient()
      .timeout({ seconds: MAX_SECONDS })
    const side = grows ? shownWidth : Math.min(width, shownWidth)
    if (square && height > width) image.resize(side, side, { fit: 'cover', position: 'centre' })
    else image.resize({ width: side })
    const { data, info } = await image.toColourspace('srgb').ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const pixels = { data, width: info.width, height: info.height }
    return { pixels, moving: pages > 1, size: { width, height } }
  } catch (error) {
    if (error instanceof ScaleError) throw error
    const tooMany = error instanceof Error && /pixel limit/i.test(error.message)
    throw new ScaleError(tooMany ? 'too_many_pixels' : 'undecodable', { cause: error })
  }
}

/** Loads the library with the first image, because loading it takes longer than the rest of the start. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  // One thread per image, because several images are processed concurrently. No cache, because each image is new.
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}
