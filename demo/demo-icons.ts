// Icons of demo projects and organizations: several styles, 128 by 128, with the colour that stands for them.
import {
  type Colour,
  createPixels,
  encodePng,
  fillDisc,
  fillRect,
  hsl,
  inkOf,
  mixColours,
  type Pixels,
  plot,
} from '#demo/demo-pixels.ts'
import type { Random } from '#demo/demo-random.ts'
import { drawScene } from '#demo/demo-scenes.ts'
import { drawSprite, SPRITES } from '#demo/demo-sprites.ts'

export type DemoPicture = { bytes: Buffer; color: Colour }

type Colours = { hue: number; main: Colour; deep: Colour; ground: Colour; isDark: boolean }
type Style = (random: Random, colours: Colours) => { pixels: Pixels; scale: number }

const SIZE = 128

/** The styles in which the icons of a project type are drawn, the likely ones more than once. */
const STYLES: Readonly<Record<string, readonly Style[]>> = {
  mod: [sprite, sprite, sprite, block, sigil, rings],
  modpack: [scene, scene, sprite, sigil],
  resourcepack: [block, block, scene, sprite],
  shader: [rings, scene],
  plugin: [sprite, sigil, rings],
  datapack: [sigil, sprite, block],
}
const OTHER_STYLES: readonly Style[] = [sigil, rings]

/** An icon for a project of a type; other words, such as `organization`, get an emblem. */
export async function demoIcon(random: Random, projectType: string): Promise<DemoPicture> {
  const hue = random.integer(0, 359)
  const isDark = random.chance(0.55)
  const colours = {
    hue,
    main: hsl(hue + random.pick([0, 35, 150, 180, 210]), 0.62, isDark ? 0.62 : 0.46),
    deep: hsl(hue + 15, 0.5, 0.14),
    ground: isDark ? hsl(hue, 0.38, 0.24) : hsl(hue, 0.5, 0.84),
    isDark,
  }
  const { pixels, scale } = random.pick(STYLES[projectType] ?? OTHER_STYLES)(random, colours)
  return {
    bytes: await encodePng(pixels, scale),
    color: isDark ? colours.main : mixColours(colours.ground, colours.main, 0.5),
  }
}

/** A thing on a ground that is lit from above. */
function sprite(random: Random, { main, deep, ground }: Colours) {
  const pixels = createPixels(16, 16, ground)
  for (let y = 0; y < 16; y += 1) {
    fillRect(pixels, { x: 0, y, w: 16, h: 1 }, inkOf(pixels, mixColours(ground, deep, Math.floor(y / 4) * 0.07)))
  }
  if (random.chance(0.5)) fillDisc(pixels, { x: 8, y: 8, r: 6 }, inkOf(pixels, mixColours(ground, main, 0.28)))
  drawSprite(pixels, random.pick(SPRITES), { x: 2, y: 2 }, { main, outline: deep })
  return { pixels, scale: SIZE / 16 }
}

/** A cube seen from a corner, its faces of the same texture in three lights. */
function block(random: Random, { main, deep, ground }: Colours) {
  const pixels = createPixels(32, 32, ground)
  const dots = hsl(random.integer(0, 359), 0.7, 0.6)
  const texture = Array.from({ length: 64 }, () => {
    const n = random.next()
    if (n < 0.14) return dots
    return mixColours(main, n < 0.55 ? 0x000000 : 0xffffff, n < 0.55 ? 0.16 * n : 0.14 * n)
  })
  const inkAt = (u: number, v: number, shade: number): number =>
    inkOf(pixels, mixColours(texture[(v & 7) * 8 + (u & 7)] ?? main, deep, shade))
  for (let u = 0; u < 24; u += 1) {
    for (let v = 0; v < 12; v += 1) {
      // The top is a rhomb of twice the width of its height; the sides hang below its lower edges.
      const inside = Math.abs(u - 11.5) / 12 + Math.abs(v - 5.5) / 6 <= 1
      if (inside) plot(pixels, 4 + u, 4 + v, inkAt((u + 2 * v) >> 2, (2 * v - u + 24) >> 2, 0))
    }
    const edge = Math.floor(u < 12 ? 10 + u / 2 : 21.5 - u / 2)
    for (let v = 0; v < 12; v += 1)
      plot(pixels, 4 + u, edge + v + 1, inkAt((u % 12) >> 1, v >> 1, u < 12 ? 0.32 : 0.55))
  }
  return { pixels, scale: SIZE / 32 }
}

/** A sign that is the same on both sides. */
function sigil(random: Random, { main, deep, ground }: Colours) {
  const pixels = createPixels(16, 16, ground)
  const light = inkOf(pixels, main)
  const shade = inkOf(pixels, mixColours(main, deep, 0.4))
  const taken = new Set<number>()
  for (let y = 0; y < 10; y += 1) {
    for (let x = 0; x < 5; x += 1) if (random.chance(0.32 + 0.09 * x)) taken.add(y * 16 + x)
  }
  for (const cell of taken) {
    const [x, y] = [cell % 16, cell >> 4]
    const ink = taken.has(cell - 16) ? light : shade
    plot(pixels, 3 + x, 3 + y, ink)
    plot(pixels, 12 - x, 3 + y, ink)
  }
  return { pixels, scale: SIZE / 16 }
}

/** Discs within discs, off their middle. */
function rings(random: Random, { hue, main, deep, ground, isDark }: Colours) {
  const pixels = createPixels(SIZE, SIZE, ground)
  const steps = 18
  const turn = random.integer(-70, 70)
  const drift = random.integer(-18, 18)
  for (let step = 0; step < steps; step += 1) {
    const share = step / (steps - 1)
    const colour = mixColours(isDark ? deep : main, hsl(hue + turn, 0.72, isDark ? 0.66 : 0.9), share)
    const disc = { x: 64 + Math.round(drift * share), y: 64 - Math.round(26 * share), r: Math.round(78 - 60 * share) }
    fillDisc(pixels, disc, inkOf(pixels, colour))
  }
  if (random.chance(0.6)) {
    const band = inkOf(pixels, mixColours(deep, ground, 0.2))
    for (let x = 0; x < SIZE; x += 1) {
      const top = Math.round(96 + 9 * Math.sin(x / 15 + drift))
      fillRect(pixels, { x, y: top, w: 1, h: SIZE - top }, band)
    }
  }
  return { pixels, scale: 1 }
}

function scene(random: Random, { hue }: Colours) {
  return { pixels: drawScene(random, { width: 32, height: 32, hue }), scale: SIZE / 32 }
}

const SKINS = [0xf2d0b1, 0xe0ac86, 0xc68b63, 0x9a623f, 0x6b4129, 0x8fbf7a]

/** The face of somebody: 8 by 8 squares, 128 by 128 as a whole. */
export function demoAvatar(random: Random): Promise<Buffer> {
  const skin = random.pick(SKINS)
  const pixels = createPixels(8, 8, skin)
  const hair = inkOf(
    pixels,
    hsl(random.integer(0, 359), random.chance(0.7) ? 0.35 : 0.75, random.chance(0.6) ? 0.22 : 0.55),
  )
  const rows = random.integer(1, 3)
  fillRect(pixels, { x: 0, y: 0, w: 8, h: rows }, hair)
  const sides = random.integer(0, 5)
  fillRect(pixels, { x: 0, y: rows, w: 1, h: sides }, hair)
  fillRect(pixels, { x: 7, y: rows, w: 1, h: sides }, hair)
  if (random.chance(0.4)) fillRect(pixels, { x: random.integer(1, 4), y: rows, w: 2, h: 1 }, hair)
  const [white, iris] = [inkOf(pixels, 0xffffff), inkOf(pixels, hsl(random.integer(0, 359), 0.6, 0.35))]
  for (const [x, ink] of [
    [1, white],
    [2, iris],
    [5, iris],
    [6, white],
  ] as const)
    plot(pixels, x, 4, ink)
  fillRect(pixels, { x: 3, y: 5, w: 2, h: 1 }, inkOf(pixels, mixColours(skin, 0x402010, 0.25)))
  const mouth = inkOf(pixels, mixColours(skin, 0x702020, random.chance(0.3) ? 0.75 : 0.45))
  fillRect(pixels, { x: 3 - random.integer(0, 1), y: 6, w: random.integer(2, 4), h: 1 }, mouth)
  if (random.chance(0.25)) fillRect(pixels, { x: 1, y: 6, w: 6, h: 2 }, hair)
  if (random.chance(0.2)) fillRect(pixels, { x: 0, y: 4, w: 8, h: 1 }, inkOf(pixels, 0x202428))
  return encodePng(pixels, SIZE / 8)
}
