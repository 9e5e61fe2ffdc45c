// Perceptual hash of an image: images that look alike have hashes that differ in few bits.
import type { Pixels } from './scale.ts'

const COLUMNS = 9
const ROWS = 8
/** Brightness behind transparent pixels. */
const BACKGROUND = 128
/** Smallest difference of brightness between two fields that counts, so that noise in a plain area does not. */
const STEP = 3
/** Hashes with fewer bits of either kind belong to plain images, which would all be similar. */
const BITS_MIN = 6

/**
 * Returns 64 characters `0` or `1`: whether each field of a grid is brighter than the field on its left. Null for a plain
 * image.
 */
export function likenessOf(pixels: Pixels): string | null {
  const fields = brightnessOfFields(pixels)
  let bits = ''
  for (let row = 0; row < ROWS; row += 1) {
    for (let column = 1; column < COLUMNS; column += 1) {
      const at = row * COLUMNS + column
      bits += (fields[at] ?? 0) - (fields[at - 1] ?? 0) > STEP ? '1' : '0'
    }
  }
  const ones = bits.replaceAll('0', '').length
  return Math.min(ones, bits.length - ones) < BITS_MIN ? null : bits
}

/** Returns the mean brightness of each field, row by row. */
function brightnessOfFields({ data, width, height }: Pixels): Float64Array {
  const sums = new Float64Array(COLUMNS * ROWS)
  const counts = new Uint32Array(COLUMNS * ROWS)
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor((y * ROWS) / height) * COLUMNS
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4
      const field = row + Math.floor((x * COLUMNS) / width)
      const alpha = (data[at + 3] ?? 0) / 255
      const light = 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0)
      sums[field] = (sums[field] ?? 0) + light * alpha + BACKGROUND * (1 - alpha)
      counts[field] = (counts[field] ?? 0) + 1
    }
  }
  return sums.map((sum, field) => sum / Math.max(1, counts[field] ?? 0))
}
