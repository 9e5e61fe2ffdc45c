// Landscapes and windows for galleries of demo projects.
import {
  type Colour,
  createPixels,
  encodePng,
  fillColumn,
  fillDisc,
  fillRect,
  hsl,
  inkOf,
  mixColours,
  type Pixels,
  plot,
} from '#demo/demo-pixels.ts'
import type { Random } from '#demo/demo-random.ts'
import { drawSprite, SPRITE_SIZE, SPRITES } from '#demo/demo-sprites.ts'

const WIDTH = 160
const HEIGHT = 90
const SCALE = 4

export type DemoScene = { bytes: Buffer; title: string; caption: string }

type Kind = { titles: readonly string[]; draw(random: Random): Pixels }

const KINDS: readonly Kind[] = [
  {
    titles: ['Morning over the hills', 'Where it all begins', 'View from the ridge'],
    draw: (random) => landscape(random, 'day'),
  },
  { titles: ['Night falls', 'Under the moon', 'Lights in the valley'], draw: (random) => landscape(random, 'night') },
  { titles: ['By the water', 'Low tide', 'The quiet bay'], draw: (random) => landscape(random, 'water') },
  { titles: ['Deep below', 'The lower caves', 'Lanterns underground'], draw: cave },
  { titles: ['The new window', 'Everything in its place', 'All items'], draw: inventory },
]

const CAPTIONS = [
  '',
  'With the default settings.',
  'Taken on the test server.',
  'Version before last; it looks even better now.',
]

/** A picture of 640 by 360 with its title, and a caption that may be empty. */
export async function demoScene(random: Random): Promise<DemoScene> {
  const kind = random.pick(KINDS)
  const [title, caption] = [random.pick(kind.titles), random.pick(CAPTIONS)]
  return { title, caption, bytes: await encodePng(kind.draw(random), SCALE) }
}

type Light = 'day' | 'night' | 'water'

function landscape(random: Random, light: Light): Pixels {
  return drawScene(random, { width: WIDTH, height: HEIGHT, hue: random.integer(0, 359), light })
}

/** Sky, sun or moon, three ranges of hills, and what stands on the nearest. */
export function drawScene(
  random: Random,
  { width, height, hue, light }: { width: number; height: number; hue: number; light?: Light },
): Pixels {
  const isNight = light === 'night' || (light === undefined && random.chance(0.3))
  const top = isNight ? hsl(225 + (hue % 40), 0.5, 0.1) : hsl(195 + (hue % 35), 0.6, 0.6)
  const low = isNight ? hsl(250 + (hue % 60), 0.4, 0.28) : hsl(random.pick([30, 45, 200, 340]), 0.65, 0.84)
  const pixels = createPixels(width, height, top)
  const bands = 14
  for (let band = 0; band < bands; band += 1) {
    const y = Math.floor((band * height * 0.75) / bands)
    fillRect(pixels, { x: 0, y, w: width, h: height - y }, inkOf(pixels, mixColours(top, low, band / (bands - 1))))
  }
  const unit = Math.max(1, Math.round(width / 40))
  if (isNight) {
    const star = inkOf(pixels, 0xf5f3dd)
    for (let n = width / 3; n > 0; n -= 1)
      plot(pixels, random.integer(0, width - 1), random.integer(0, height >> 1), star)
  } else drawClouds(random, pixels, unit)
  const at = { x: random.integer(width >> 3, width - (width >> 3)), y: random.integer(height >> 3, height >> 2) }
  fillDisc(pixels, { ...at, r: unit * 3 }, inkOf(pixels, isNight ? 0xe8e6d0 : 0xfff3b0))
  const ground = hsl(light === 'water' ? 150 : 70 + (hue % 90), isNight ? 0.25 : 0.38, isNight ? 0.14 : 0.36)
  for (const layer of [0, 1, 2]) {
    const colour = mixColours(low, ground, 0.45 + 0.275 * layer)
    const heights = terrain(random, width, height * (0.62 + 0.12 * layer), height * (0.13 - 0.03 * layer), unit)
    drawRange(pixels, heights, colour)
    if (layer === 2) drawNearest(random, pixels, heights, { colour, unit, isNight })
  }
  if (light === 'water') drawWater(random, pixels, low)
  return pixels
}

/** The height of the ground in each column, in steps of `unit`. */
function terrain(random: Random, width: number, base: number, swing: number, unit: number): number[] {
  const waves = [1, 2.3, 5.1].map((pace) => ({ pace: (pace * 6.3) / width, phase: random.next() * 6.3 }))
  return Array.from({ length: width }, (_, x) => {
    const wave = waves.reduce(
      (sum, { pace, phase }, n) => sum + Math.sin(Math.floor(x / unit) * unit * pace + phase) / (n + 1),
      0,
    )
    return Math.round((base - wave * swing * 0.7) / unit) * unit
  })
}

function drawRange(pixels: Pixels, heights: readonly number[], colour: Colour): void {
  const [body, rim] = [inkOf(pixels, colour), inkOf(pixels, mixColours(colour, 0xffffff, 0.12))]
  heights.forEach((y, x) => {
    fillColumn(pixels, { x, from: y, to: pixels.height }, body)
    plot(pixels, x, y, rim)
  })
}

type Nearest = { colour: Colour; unit: number; isNight: boolean }

function drawNearest(
  random: Random,
  pixels: Pixels,
  heights: readonly number[],
  { colour, unit, isNight }: Nearest,
): void {
  const leaf = inkOf(pixels, mixColours(colour, 0x0c2414, 0.5))
  const trunk = inkOf(pixels, mixColours(0x4a3020, colour, 0.3))
  const wall = inkOf(pixels, isNight ? 0x3a2f2a : 0xb9a07c)
  const roof = inkOf(pixels, isNight ? 0x2a1c1c : 0x8c3f33)
  const window = inkOf(pixels, isNight ? 0xffcf66 : 0x5f7f8c)
  for (let x = random.integer(2, 8) * unit; x < pixels.width - 6 * unit; x += random.integer(3, 9) * unit) {
    const y = heights[x] ?? 0
    if (random.chance(0.25)) {
      fillRect(pixels, { x, y: y - 3 * unit, w: 5 * unit, h: 4 * unit }, wall)
      for (const step of [0, 1, 2])
        fillRect(
          pixels,
          { x: x + (step - 1) * unit, y: y - (4 + step) * unit, w: (7 - 2 * step) * unit, h: unit },
          roof,
        )
      fillRect(pixels, { x: x + unit, y: y - 2 * unit, w: unit, h: unit }, window)
      fillRect(pixels, { x: x + 3 * unit, y: y - 2 * unit, w: unit, h: unit }, window)
      continue
    }
    const tall = random.integer(2, 5)
    fillRect(pixels, { x: x + unit, y: y - unit, w: unit, h: 2 * unit }, trunk)
    for (let step = 0; step < tall; step += 1) {
      const inset = step === tall - 1 ? unit : 0
      fillRect(pixels, { x: x + inset, y: y - (2 + step) * unit, w: 3 * unit - 2 * inset, h: unit }, leaf)
    }
  }
}

function drawClouds(random: Random, pixels: Pixels, unit: number): void {
  const cloud = inkOf(pixels, 0xffffff)
  for (let n = random.integer(1, 4); n > 0; n -= 1) {
    const [x, y] = [random.integer(0, pixels.width), random.integer(unit, pixels.height >> 2)]
    fillRect(pixels, { x, y, w: random.integer(4, 9) * unit, h: unit }, cloud)
    fillRect(pixels, { x: x + unit, y: y - unit, w: random.integer(2, 4) * unit, h: unit }, cloud)
  }
}

function drawWater(random: Random, pixels: Pixels, sky: Colour): void {
  const line = Math.floor(pixels.height * 0.78)
  const deep = mixColours(sky, 0x10406a, 0.65)
  fillRect(pixels, { x: 0, y: line, w: pixels.width, h: pixels.height - line }, inkOf(pixels, deep))
  const glint = inkOf(pixels, mixColours(deep, 0xffffff, 0.35))
  for (let n = 46; n > 0; n -= 1) {
    const at = { x: random.integer(0, pixels.width), y: random.integer(line, pixels.height - 1) }
    fillRect(pixels, { ...at, w: random.integer(2, 9), h: 1 }, glint)
  }
}

function cave(random: Random): Pixels {
  const hue = random.integer(180, 330)
  const pixels = createPixels(WIDTH, HEIGHT, hsl(hue, 0.25, 0.1))
  const stone = hsl(hue, 0.14, 0.24)
  const lanterns = Array.from({ length: random.integer(2, 4) }, () => ({
    x: random.integer(12, WIDTH - 12),
    y: random.integer(34, 58),
  }))
  for (const [r, share] of [
    [20, 0.12],
    [13, 0.3],
    [7, 0.55],
  ] as const) {
    for (const { x, y } of lanterns)
      fillDisc(pixels, { x, y, r }, inkOf(pixels, mixColours(hsl(hue, 0.25, 0.1), 0xffa63d, share)))
  }
  const ceiling = terrain(random, WIDTH, 18, 12, 3)
  const floor = terrain(random, WIDTH, 70, 8, 3)
  const rock = inkOf(pixels, stone)
  drawRange(pixels, floor, stone)
  for (const [x, y] of ceiling.entries()) fillColumn(pixels, { x, from: 0, to: y }, rock)
  const shade = inkOf(pixels, mixColours(stone, 0x000000, 0.25))
  const ore = inkOf(pixels, hsl(random.integer(0, 359), 0.7, 0.6))
  for (let n = 90; n > 0; n -= 1) {
    const x = random.integer(0, WIDTH - 1)
    const isFloor = random.chance(0.6)
    const y = isFloor
      ? random.integer((floor[x] ?? 70) + 2, HEIGHT)
      : random.integer(0, Math.max(0, (ceiling[x] ?? 9) - 3))
    fillRect(pixels, { x, y, w: 3, h: 2 }, n % 5 === 0 ? ore : shade)
  }
  for (const { x, y } of lanterns) {
    fillRect(pixels, { x, y: 0, w: 1, h: y }, shade)
    fillRect(pixels, { x: x - 2, y, w: 5, h: 5 }, inkOf(pixels, 0xffd27a))
  }
  return pixels
}

function inventory(random: Random): Pixels {
  const pixels = landscape(random, 'day')
  const [panel, slot, rim] = [inkOf(pixels, 0xc6c6c6), inkOf(pixels, 0x8b8b8b), inkOf(pixels, 0x3c3c3c)]
  fillRect(pixels, { x: 14, y: 12, w: 132, h: 66 }, rim)
  fillRect(pixels, { x: 15, y: 13, w: 130, h: 64 }, panel)
  for (let row = 0; row < 4; row += 1) {
    for (let column = 0; column < 8; column += 1) {
      const at = { x: 18 + column * 16, y: 16 + row * 15 }
      fillRect(pixels, { ...at, w: 14, h: 13 }, slot)
      if (random.chance(0.6)) {
        const main = hsl(random.integer(0, 11) * 30, 0.6, 0.55)
        drawSprite(
          pixels,
          random.pick(SPRITES),
          { x: at.x + 1, y: at.y + (13 - SPRITE_SIZE) },
          { main, outline: 0x26211f },
        )
      }
    }
  }
  return pixels
}
