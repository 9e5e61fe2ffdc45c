// Pictures of few colours, drawn pixel by pixel and written as PNG: cheap enough to draw thousands in a second or two.
import { promisify } from 'node:util'
import { constants, crc32, deflate } from 'node:zlib'

/** A colour as 0xRRGGBB. */
export type Colour = number

export type Pixels = {
  width: number
  height: number
  /** Index into `palette` of each pixel, row by row. */
  data: Uint8Array
  /** At most 256. */
  palette: Colour[]
}

const COLOURS_MAX = 256

export function createPixels(width: number, height: number, background: Colour): Pixels {
  return { width, height, data: new Uint8Array(width * height), palette: [background] }
}

/** The index of a colour, which the palette takes up where it is new; the first colour once the palette is full. */
export function inkOf({ palette }: Pixels, colour: Colour): number {
  const known = palette.indexOf(colour)
  if (known !== -1) return known
  return palette.length < COLOURS_MAX ? palette.push(colour) - 1 : 0
}

/** Sets one pixel; outside the picture nothing happens. */
export function plot({ width, height, data }: Pixels, x: number, y: number, ink: number): void {
  if (x >= 0 && y >= 0 && x < width && y < height) data[y * width + x] = ink
}

/** Fills a rectangle; what lies outside the picture is cut off. */
export function fillRect(pixels: Pixels, area: { x: number; y: number; w: number; h: number }, ink: number): void {
  const right = Math.min(pixels.width, area.x + area.w)
  for (let y = Math.max(0, area.y); y < Math.min(pixels.height, area.y + area.h); y += 1) {
    pixels.data.fill(ink, y * pixels.width + Math.max(0, area.x), Math.max(0, y * pixels.width + right))
  }
}

/** Fills one column from a row, which may lie above the picture, down to another, which is left out. */
export function fillColumn(
  pixels: Pixels,
  { x, from, to }: { x: number; from: number; to: number },
  ink: number,
): void {
  const { width, height, data } = pixels
  for (let y = Math.max(0, from); y < Math.min(height, to); y += 1) data[y * width + x] = ink
}

export function fillDisc(pixels: Pixels, disc: { x: number; y: number; r: number }, ink: number): void {
  for (let y = -disc.r; y <= disc.r; y += 1) {
    const half = Math.floor(Math.sqrt(disc.r * disc.r - y * y))
    fillRect(pixels, { x: disc.x - half, y: disc.y + y, w: 2 * half + 1, h: 1 }, ink)
  }
}

/** A colour by hue in degrees, saturation and lightness from 0 to 1. */
export function hsl(hue: number, saturation: number, lightness: number): Colour {
  const chroma = saturation * Math.min(lightness, 1 - lightness)
  const channel = (n: number): number => {
    const k = (n + (((hue % 360) + 360) % 360) / 30) % 12
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))))
  }
  return (channel(0) << 16) | (channel(8) << 8) | channel(4)
}

/** The colour `share` of the way from one to another; 0 gives the first. */
export function mixColours(from: Colour, to: Colour, share: number): Colour {
  const channel = (shift: number): number => {
    const a = (from >> shift) & 255
    return Math.round(a + (((to >> shift) & 255) - a) * share) << shift
  }
  return channel(16) | channel(8) | channel(0)
}

const compress = promisify(deflate)

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/**
 * The picture as PNG, each pixel as a square of `scale` by `scale`. The same pixels give the same bytes. They are packed on
 * another thread, which is most of the work.
 */
export async function encodePng({ width, height, data, palette }: Pixels, scale: number): Promise<Buffer> {
  const rowBytes = 1 + width * scale
  const rows = Buffer.alloc(rowBytes * height * scale)
  for (let y = 0; y < height; y += 1) {
    let at = y * scale * rowBytes + 1
    for (let x = 0; x < width; x += 1) {
      const ink = data[y * width + x] ?? 0
      for (let again = 0; again < scale; again += 1, at += 1) rows[at] = ink
    }
    // Filter 2: the row is the difference to the one above, which is nothing.
    for (let again = 1; again < scale; again += 1) rows[(y * scale + again) * rowBytes] = 2
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width * scale, 0)
  header.writeUInt32BE(height * scale, 4)
  // Eight bits for each pixel, which is an index into the palette.
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255]))
  // Runs are what there is to find: other strategies take four times as long for a seventh less.
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', await compress(rows, { strategy: constants.Z_RLE })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}
