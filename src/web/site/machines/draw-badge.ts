// Draws a badge: a label and a fact next to each other, 20 pixels high, in the form that README files of many projects have.
import measure from 'anafanafo'
import { escapeText } from '#lib/text/xml.ts'

export type Badge = {
  label: string
  fact: string
  /** Fill colour behind the fact. The text is white. */
  color: string
  isSquare: boolean
}

const HEIGHT = 20
/** Space on both sides of a text, in pixels. */
const PADDING = 6
const CORNER = 3

/** Returns an SVG image whose title is `label: fact`. Viewers without Verdana stretch their font to the same width. */
export function drawBadge({ label, fact, color, isSquare }: Badge): string {
  const [labelWidth, factWidth] = [label, fact].map(widthOf) as [number, number]
  const [split, width] = [labelWidth + 2 * PADDING, labelWidth + factWidth + 4 * PADDING]
  const title = escapeText(`${label}: ${fact}`)
  const corner = isSquare ? 0 : CORNER
  const text = (written: string, x: number, length: number): string =>
    `<text x="${x}" y="14" textLength="${length}">${escapeText(written)}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${title}">` +
    `<title>${title}</title><clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="${corner}"/></clipPath>` +
    `<g clip-path="url(#r)"><path fill="#555" d="M0 0h${split}v${HEIGHT}H0z"/>` +
    `<path fill="${color}" d="M${split} 0h${width - split}v${HEIGHT}H${split}z"/></g>` +
    '<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">' +
    `${text(label, PADDING, labelWidth)}${text(fact, split + PADDING, factWidth)}</g></svg>`
  )
}

const widthOf = (text: string): number => Math.max(1, Math.round(measure(text, { font: '11px Verdana' })))
