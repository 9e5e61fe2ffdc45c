// Icons, avatars and gallery images of the demo. Each is a file of demo/images with a shifted hue, so that a few files give
// many different images.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Random } from '#demo/catalogue/random.ts'
import IMAGES from '#demo/data/images.json' with { type: 'json' }
import { type HostedImage, toHostedImage } from '#features/basics/images/hosted-image.ts'
import type { StoredBytes } from '#ports/files/files.ts'

const FOLDER = join(import.meta.dirname, '../images')
/** Offset of the palette in every file: after the signature and the header comes the chunk `PLTE`. */
const PALETTE_AT = 33
/** Maximum shift of scenes and avatars in degrees. A larger shift gives skin and sky unnatural colours. */
const SMALL_SHIFT = 15

type Colour = readonly [red: number, green: number, blue: number]

const ICONS: Readonly<Record<string, readonly string[]>> = IMAGES.icons
const files = new Map<string, Buffer>()

/** Returns an icon of 128 by 128 pixels with its main colour. An unknown project type gets the icon of an organization. */
export function demoIcon(random: Random, projectType: string): { bytes: Buffer; color: number } {
  const name = random.pick(ICONS[projectType] ?? IMAGES.icons.organization)
  const bytes = shiftHue(readImage(`icons/${name}.png`), random.integer(0, 359))
  return { bytes, color: mainColour(bytes) }
}

/** Returns an avatar of 128 by 128 pixels. */
export function demoAvatar(random: Random): Buffer {
  const name = String(random.integer(1, IMAGES.avatars)).padStart(2, '0')
  return shiftHue(readImage(`avatars/${name}.png`), random.integer(-SMALL_SHIFT, SMALL_SHIFT))
}

export type DemoScene = { bytes: Buffer; title: string; caption: string }

/** Returns different gallery images of 640 by 360 pixels with their titles, and captions that can be empty. */
export function demoScenes(random: Random, count: number): DemoScene[] {
  const captions = random.sample(IMAGES.captions, count)
  return random
    .sample(Object.entries(IMAGES.scenes), count)
    .map(([name, titles], n) => ({
      bytes: shiftHue(readImage(`scenes/${name}.png`), random.integer(-SMALL_SHIFT, SMALL_SHIFT)),
      title: random.pick(titles),
      caption: captions[n] ?? '',
    }))
}

/** Returns the files and the row of a demo image. A demo image is small, so it needs no scaled copies. */
export function hostImage(png: Buffer, folder: string): HostedImage {
  const size = { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
  const raw = { bytes: png, ext: 'png', contentType: 'image/png' }
  return toHostedImage({ raw, copies: [], size, color: null, likeness: null }, folder)
}

export function bytesOf({ stored }: HostedImage): StoredBytes[] {
  return stored.map(({ key, image }) => ({ key, bytes: image.bytes, contentType: image.contentType }))
}

function readImage(path: string): Buffer {
  const bytes = files.get(path) ?? readFileSync(join(FOLDER, path))
  files.set(path, bytes)
  return bytes
}

/** Returns a copy of a PNG with the hue of its palette shifted, by the matrix of the CSS function `hue-rotate`. */
function shiftHue(png: Buffer, degrees: number): Buffer {
  const copy = Buffer.from(png)
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  const rows = [
    [0.213 + cos * 0.787 - sin * 0.213, 0.715 - cos * 0.715 - sin * 0.715, 0.072 - cos * 0.072 + sin * 0.928],
    [0.213 - cos * 0.213 + sin * 0.143, 0.715 + cos * 0.285 + sin * 0.14, 0.072 - cos * 0.072 - sin * 0.283],
    [0.213 - cos * 0.213 - sin * 0.787, 0.715 - cos * 0.715 + sin * 0.715, 0.072 + cos * 0.928 + sin * 0.072],
  ]
  for (const { colour, at } of paletteOf(copy)) {
    for (const [part, row] of rows.entries()) {
      const value = row.reduce((sum, factor, index) => sum + factor * (colour[index] ?? 0), 0)
      copy[at + part] = Math.min(255, Math.max(0, Math.round(value)))
    }
  }
  const end = PALETTE_AT + 8 + copy.readUInt32BE(PALETTE_AT)
  copy.writeUInt32BE(crc32(copy.subarray(PALETTE_AT + 4, end)), end)
  return copy
}

/** Returns the most saturated colour of a PNG, as 0xRRGGBB. */
function mainColour(png: Buffer): number {
  const saturation = ([red, green, blue]: Colour): number => Math.max(red, green, blue) - Math.min(red, green, blue)
  const [main] = paletteOf(png).sort((a, b) => saturation(b.colour) - saturation(a.colour))
  const [red, green, blue] = main?.colour ?? [0, 0, 0]
  return (red << 16) | (green << 8) | blue
}

function paletteOf(png: Buffer): { colour: Colour; at: number }[] {
  const count = png.readUInt32BE(PALETTE_AT) / 3
  return Array.from({ length: count }, (_, index) => {
    const at = PALETTE_AT + 8 + index * 3
    return { colour: [png[at] ?? 0, png[at + 1] ?? 0, png[at + 2] ?? 0] as const, at }
  })
}
