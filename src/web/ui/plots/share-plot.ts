// Share plots: columns of equal height over time, divided into the shares of a few parts and of all others.
import { csvLines } from '#lib/text/csv.ts'
import { percentage, shortDayText } from '../format.ts'
import { html, type Markup } from '../html.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, type PlotFigure, plotFigure, svgAttributes } from './figure.ts'

export type SharePlot = PlotFigure & {
  /** Names of at most 6 parts. The last part contains all others. */
  parts: readonly string[]
  /** Values of the parts in each period, ascending by time. */
  periods: readonly { at: Date; values: readonly number[] }[]
  /** Header of the time column: `Period from`. */
  timeLabel: string
}

/** Class of the part with all others, which has its own colour. */
const OTHERS = 'share-6'

const SIZES = { wide: { width: 760, height: 200 }, narrow: { width: 340, height: 180 } }
/** Height of the labels below the columns, and space between columns. */
const LABELS = 22
const GAP = 3
/** Minimum width of a label in pixels. */
const LABEL_WIDTH = 60

export function sharePlot(page: PageContext, of: SharePlot): Markup {
  const { language } = page
  const isEmpty = of.periods.every((period) => sumOf(period.values) === 0)
  const images = isEmpty
    ? html`<p class="soft">${language.t('plot.empty')}</p>`
    : (['wide', 'narrow'] as const).map((name) => drawing(page, of, name))
  const legend = html`<ul class="legend">${of.parts.map((part, index) => html`<li class="${classOf(index, of.parts.length)}"><bdi>${part}</bdi></li>`)}</ul>
`
  const rows = of.periods.map(({ at, values }) => ({
    name: shortDayText(language, at),
    cells: values.map((value) => percentage(language, value / Math.max(1, sumOf(values)))),
  }))
  const table = { header: [of.timeLabel, ...of.parts], rows }
  return plotFigure(page, of, { images: [!isEmpty && legend, images], table })
}

/** Returns the values of a plot as CSV, with times in RFC 3339. */
export function sharePlotCsv({
  parts,
  periods,
  timeLabel,
}: Pick<SharePlot, 'parts' | 'periods' | 'timeLabel'>): string {
  return csvLines([[timeLabel, ...parts], ...periods.map(({ at, values }) => [at.toISOString(), ...values])])
}

const classOf = (index: number, count: number): string => (index === count - 1 ? OTHERS : `share-${index + 1}`)

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

function drawing({ language }: PageContext, { id, periods }: SharePlot, name: keyof typeof SIZES): Markup {
  const { width, height } = SIZES[name]
  const column = width / periods.length
  const step = Math.max(1, Math.ceil(LABEL_WIDTH / column))
  const scale = height - LABELS
  return html`<svg${svgAttributes(id, name, { width, height })}>
${periods.map(({ at, values }, index) => {
  const sum = sumOf(values)
  const left = coordinate(index * column)
  let top = scale
  const parts = values.map((value, part) => {
    if (sum === 0 || value === 0) return null
    const length = (value / sum) * scale
    top -= length
    return html`<rect class="${classOf(part, values.length)}" x="${left}" y="${coordinate(top)}" width="${coordinate(column - GAP)}" height="${coordinate(length)}"/>`
  })
  const label = index % step === 0 && html`<text x="${left}" y="${height - 5}">${shortDayText(language, at)}</text>`
  return html`${parts}${label}
`
})}</svg>`
}
