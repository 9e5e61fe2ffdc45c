// Bar plots: one bar per part of a sum.
import { scaleLinear } from 'd3-scale'
import { csvLines } from '#lib/text/csv.ts'
import { shortNumber, wholeNumber } from '../format.ts'
import { html, type Markup } from '../html.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, type PlotFigure, plotFigure, svgAttributes } from './figure.ts'

export type BarPlot = PlotFigure & {
  /** Largest first, or in the order of time. `text`: the exact value, if it is not a whole number. */
  bars: readonly { label: string; value: number; text?: string }[]
  /** Headers of the table: `Loader`, `Downloads`. */
  labels: readonly [part: string, value: string]
  /** Maximum number of drawn bars; the table has all. Default: all */
  shownMax?: number
}

const SIZES = { wide: { width: 760, label: 170, letters: 24 }, narrow: { width: 340, label: 110, letters: 15 } }
const ROW = 30
const BAR = 18
const NUMBER_WIDTH = 56
const LETTER_WIDTH = 8

export function barPlot(page: PageContext, of: BarPlot): Markup {
  const { language } = page
  const images =
    of.bars.length === 0
      ? html`<p class="soft">${language.t('plot.empty')}</p>`
      : (['wide', 'narrow'] as const).map((name) => drawing(page, of, name))
  const rows = of.bars.map(({ label, value, text }) => ({
    name: label,
    cells: [text ?? wholeNumber(language, value)],
  }))
  return plotFigure(page, of, { images, table: { header: of.labels, rows } })
}

export function barPlotCsv({ bars, labels }: Pick<BarPlot, 'bars' | 'labels'>): string {
  return csvLines([labels, ...bars.map(({ label, value }) => [label, value])])
}

function drawing(
  { language }: PageContext,
  { id, bars: all, shownMax = all.length }: BarPlot,
  name: keyof typeof SIZES,
): Markup {
  const bars = all.slice(0, shownMax)
  const { width, label: labelWidth, letters } = SIZES[name]
  const textOf = ({ value, text }: BarPlot['bars'][number]): string => text ?? shortNumber(language, value)
  const numberWidth = Math.max(NUMBER_WIDTH, ...bars.map((bar) => LETTER_WIDTH * (textOf(bar).length + 1)))
  const length = scaleLinear()
    .domain([0, Math.max(...bars.map(({ value }) => value)) || 1])
    .range([0, width - labelWidth - numberWidth])
  return html`<svg${svgAttributes(id, `${name} bars`, { width, height: bars.length * ROW })}>
${bars.map((bar, index) => {
  const { label, value } = bar
  const top = index * ROW
  const end = labelWidth + length(value)
  return html`<text class="label" x="0" y="${top + 19}">${shortened(label, letters)}</text><rect class="bar-of" x="${labelWidth}" y="${top + 6}" width="${coordinate(Math.max(1, length(value)))}" height="${BAR}" rx="4"/><text class="value" x="${coordinate(end + 8)}" y="${top + 19}">${textOf(bar)}</text>
`
})}</svg>`
}

function shortened(label: string, letters: number): string {
  const characters = [...label]
  return characters.length > letters ? `${characters.slice(0, letters - 1).join('')}…` : label
}
