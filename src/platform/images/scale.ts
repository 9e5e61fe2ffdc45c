// Decodes a picture once, at the size it is shown in: within the server for pictures made of pixels, within a process
// of its own for drawings (draw-svg.ts).
import type { SharpOptions } from 'sharp'

export type ScaleRules = {
  /** Width times height of one frame. */
  maxPixels: number
  /** What the picture is scaled down to; a narrower one stays as it is. */
  width: number
  /** Whether one that is taller than wide is cut to a square from its middle. */
  square: boolean
  /** Whether a narrower drawing is drawn at `width`: it is sharp at any size. */
  drawsAtWidth?: boolean
}

/** Pixels of an inch, at which libraries draw what says no unit. */
const USUAL_DENSITY = 72

/** Four bytes a pixel: red, green, blue, alpha. */
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

/** All frames of a moving picture together, which every reader's browser has to unpack. */
const MAX_MOVING_PIXELS = 256 * 1024 * 1024
const MAX_SECONDS = 15

/** @throws ScaleError. */
export async function scale(
  source: Buffer,
  { maxPixels, width: shownWidth, square, drawsAtWidth = false }: ScaleRules,
): Promise<{ pixels: Pixels; moving: boolean; size: { width: number; height: number } }> {
  const sharp = await loadSharp()
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: 'error' }
  try {
    const { pages = 1, autoOrient, format } = await sharp(source, options).metadata()
    const { width, height } = autoOrient
    if (width * height > maxPixels) throw new ScaleError('too_many_pixels')
    if (width * height * pages > MAX_MOVING_PIXELS) throw new ScaleError('too_many_moving_pixels')
    const grows = drawsAtWidth && format === 'svg' && width < shownWidth
    const density = grows ? { density: (USUAL_DENSITY * shownWidth) / width } : {}
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

/** Loaded with the first picture: the library's start costs more than the rest of the server's. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  // One thread a picture, since several pictures are worked on at once; and nothing kept, since none comes twice.
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}
