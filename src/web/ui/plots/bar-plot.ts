// Bar plots: one bar per part of a sum, in a table, so that no label is cut and the numbers are there once.
import { csvLines } from '#lib/text/csv.ts'
import { percentage, wholeNumber } from '../format.ts'
import { html, type Markup } from '../html.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, type PlotFigure, plotFigure } from './figure.ts'

export type BarPlot = PlotFigure & {
  /** Largest first, or in the order of time. `text`: the exact value, if it is not a whole number. */
  bars: readonly { label: string; value: number; text?: string }[]
  /** Headers of the table: `Loader`, `Downloads`. */
  labels: readonly [part: string, value: string]
  /** Maximum number of bars that are visible at first. Default: all */
  shownMax?: number
  /** Whether the bars are parts of one sum, so that each has a share of it. Default: false */
  hasShares?: boolean
}

export function barPlot(page: PageContext, of: BarPlot): Markup {
  const { language } = page
  const { bars, shownMax = bars.length } = of
  const [shown, rest] = [bars.slice(0, shownMax), bars.slice(shownMax)]
  const content =
    bars.length === 0
      ? html`<p class="soft">${language.t('plot.empty')}</p>`
      : html`${barTable(page, of, shown)}${rest.length > 0 && html`<details><summary>${language.t('plot.more', { count: rest.length })}</summary>${barTable(page, of, rest)}</details>`}`
  return plotFigure(page, of, { images: content })
}

export function barPlotCsv({ bars, labels }: Pick<BarPlot, 'bars' | 'labels'>): string {
  return csvLines([labels, ...bars.map(({ label, value }) => [label, value])])
}

function barTable(
  { language }: PageContext,
  { bars: all, labels: [part, value], hasShares = false }: BarPlot,
  bars: BarPlot['bars'],
): Markup {
  const longest = Math.max(...all.map((bar) => bar.value)) || 1
  const sum = Math.max(
    1,
    all.reduce((total, bar) => total + bar.value, 0),
  )
  const rows = bars.map((bar) => {
    const length = coordinate((100 * bar.value) / longest)
    const share = hasShares && html`<td class="soft">${percentage(language, bar.value / sum)}</td>`
    return html`<tr><th scope="row"><bdi>${bar.label}</bdi></th><td class="length"><svg aria-hidden="true"><rect class="bar-of" width="${length}%" height="100%" rx="4"/></svg></td><td>${bar.text ?? wholeNumber(language, bar.value)}</td>${share}</tr>
`
  })
  const header = hasShares && html`<th scope="col">${language.t('plot.share')}</th>`
  return html`<table class="bars"><thead class="vh"><tr><th scope="col">${part}</th><td></td><th scope="col">${value}</th>${header}</tr></thead><tbody>
${rows}</tbody></table>`
}
