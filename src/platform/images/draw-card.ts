// Draws the preview image (card) that other sites show for a link. Uses the bundled font, and the fonts of the system for
// other characters.
import { join } from 'node:path'
import { createLimiter } from '#lib/concurrency/limiter.ts'
import { loadSharp } from './scale.ts'

export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630

export type Card = {
  title: string
  text: string
  /** Name of the instance. */
  footer: string
  /** Colour of the background (0xRRGGBB); null for the default colour. */
  color: number | null
  /** Pixel image. Never an SVG, which would be drawn in this process. */
  icon: Uint8Array | undefined
  /** Logo of the instance, also a pixel image. */
  mark: Uint8Array | undefined
}

export type DrawCard = (card: Card, caller: string) => Promise<Buffer>

const FONT_FILE = join(import.meta.dirname, 'hyperlegible.ttf')
const FONT = 'Atkinson Hyperlegible Next'
const EDGE = 72
const ICON_SIDE = 168
const MARK_SIDE = 56
const FOOTER_TOP = 530
const INK = '#ffffff'
const SOFT_INK = '#d5dde2'
/** Teal, like links. */
const DEFAULT_COLOR = 0x0f766e
/** Maximum number of characters that fit. */
const TITLE_MAX = 80
const TEXT_MAX = 280
const ICON_PIXELS_MAX = 4096 * 4096

/** Draws PNG cards, at most two at a time. Throws 503 if 32 cards wait. The queue takes cards in turn from each caller. */
export function createDrawCard(): DrawCard {
  const limiter = createLimiter({ running: 2, waiting: 32 })
  return (card, caller) => limiter.run(() => draw(card), caller)
}

async function draw({ title, text, footer, color, icon, mark }: Card): Promise<Buffer> {
  const sharp = await loadSharp()
  const side = icon === undefined ? undefined : await drawIcon(icon, ICON_SIDE)
  const sign = mark === undefined ? undefined : await drawIcon(mark, MARK_SIDE)
  const footerLeft = sign === undefined ? EDGE : EDGE + MARK_SIDE + 20
  const left = side === undefined ? EDGE : EDGE + ICON_SIDE + 40
  const name = cut(title, TITLE_MAX)
  const parts = [
    { text: name, size: [...name].length > 24 ? 52 : 68, weight: 'Bold', ink: INK, left, top: EDGE + 4, height: 204 },
    { text: cut(text, TEXT_MAX), size: 38, weight: '', ink: SOFT_INK, left: EDGE, top: 300, height: 206 },
    { text: cut(footer, TITLE_MAX), size: 32, weight: 'Bold', ink: INK, left: footerLeft, top: FOOTER_TOP, height: 44 },
  ]
  const drawn = []
  for (const part of parts)
    if (part.text.trim() !== '') drawn.push({ input: await drawText(part), left: part.left, top: part.top })
  const ground = { width: CARD_WIDTH, height: CARD_HEIGHT, channels: 3 as const, background: groundOf(color) }
  return sharp({ create: ground })
    .composite([
      ...(side === undefined ? [] : [{ input: side, left: EDGE, top: EDGE }]),
      ...(sign === undefined ? [] : [{ input: sign, left: EDGE, top: FOOTER_TOP - 8 }]),
      ...drawn,
    ])
    .png({ palette: true, colours: 128 })
    .toBuffer()
}

type TextPart = { text: string; size: number; weight: string; ink: string; left: number; height: number }

/** Wraps lines at the right edge, and crops the text below `height`. */
async function drawText({ text, size, weight, ink, left, height }: TextPart): Promise<Buffer> {
  const sharp = await loadSharp()
  const markup = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
  const { data, info } = await sharp({
    text: {
      text: `<span foreground="${ink}">${markup}</span>`,
      font: `${FONT} ${weight} ${size}px`,
      fontfile: FONT_FILE,
      width: CARD_WIDTH - EDGE - left,
      wrap: 'word-char',
      rgba: true,
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true })
  // An unbreakable word can be wider than the requested width.
  const width = Math.min(info.width, CARD_WIDTH - left)
  return sharp(data)
    .extract({ left: 0, top: 0, width, height: Math.min(info.height, height) })
    .png()
    .toBuffer()
}

/** Draws an image as a square PNG. The image must not be an SVG of a user. Returns undefined if it cannot be decoded. */
export async function drawIcon(icon: Uint8Array, side: number): Promise<Buffer | undefined> {
  const sharp = await loadSharp()
  return sharp(icon, { limitInputPixels: ICON_PIXELS_MAX, pages: 1 })
    .resize(side, side, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer()
    .catch(() => undefined)
}

/** Mixes a quarter of the colour with near-black, so that white text is readable on any colour. */
function groundOf(color: number | null): { r: number; g: number; b: number } {
  const shown = color ?? DEFAULT_COLOR
  const mix = (channel: number, dark: number) => Math.round(((shown >> channel) & 0xff) * 0.28 + dark * 0.72)
  return { r: mix(16, 16), g: mix(8, 22), b: mix(0, 26) }
}

/** Truncates a text, and replaces characters that XML does not allow, because the library parses texts as XML. */
function cut(text: string, max: number): string {
  const clean = text.toWellFormed().replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
  const characters = [...clean]
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : clean
}
