// Plots of totals over time: a column for each step, and the previous period as a line.
import { scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'
import { shortDayText, shortTimeText, wholeNumber } from '../format.ts'
import { html, type Markup, type Part } from '../html.ts'
import type { Language } from '../languages.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, svgAttributes } from './figure.ts'
import {
  drawMarks,
  EDGE,
  type Size,
  type SizeName,
  type TimePlot,
  type TimeScale,
  timeAxis,
  timeFigure,
  valueAxis,
  valueScale,
} from './time-plot.ts'

/** The first series is drawn as columns, a second one as a line. */
export type ColumnPlot = TimePlot & {
  /** Time of a column in milliseconds. */
  stepMs: number
  /** Whether the last column is not complete yet. */
  isPartial?: boolean
}

/** Maximum number of columns that show their value as a tooltip. */
const TOOLTIPS_MAX = 62
/** Maximum width of a column in pixels. */
const COLUMN_MAX = 36

export function columnPlot(page: PageContext, of: ColumnPlot): Markup {
  return timeFigure(page, of, (name, size) => drawing(page.language, of, { name, size }))
}

function drawing(language: Language, of: ColumnPlot, { name, size }: { name: SizeName; size: Size }): Markup {
  const { series, marks = [], hasTimes, stepMs } = of
  const points = series[0]?.points ?? []
  const startMs = points[0]?.at.getTime() ?? 0
  const x = scaleUtc()
    .domain([new Date(startMs), new Date(startMs + points.length * stepMs)])
    .range([EDGE.left, size.width - EDGE.right])
  const y = valueScale(series, size)
  const step = (size.width - EDGE.left - EDGE.right) / Math.max(1, points.length)
  const before = series[1]
  const draw = line<{ at: Date; value: number }>(
    ({ at }) => x(at) + step / 2,
    ({ value }) => y(value),
  ).digits(1)
  return html`<svg${svgAttributes(of.id, name, size)}>
${valueAxis(language, y, size)}
${timeAxis(language, x, { size, hasTimes, shift: step < COLUMN_MAX ? step / 2 : 0 })}
${columns(language, of, { x, y, step })}${before !== undefined && html`<path class="line series-2" d="${draw(before.points) ?? ''}"/>`}
${drawMarks(marks, { x, size })}
</svg>`
}

type Scales = { x: TimeScale; y: (value: number) => number; step: number }

function columns(language: Language, of: ColumnPlot, { x, y, step }: Scales): Part {
  const points = of.series[0]?.points ?? []
  const width = Math.min(COLUMN_MAX, step > 4 ? step - 2 : step * 0.8)
  const base = coordinate(y(0))
  const pathOf = ({ at, value }: { at: Date; value: number }): string => {
    const left = x(at) + (step - width) / 2
    return `M${coordinate(left)} ${base}V${coordinate(y(value))}H${coordinate(left + width)}V${base}z`
  }
  const valueText = of.valueText ?? ((value: number) => wholeNumber(language, value))
  const timeText = of.hasTimes === true ? shortTimeText : shortDayText
  const isLast = (index: number): boolean => of.isPartial === true && index === points.length - 1
  if (points.length > TOOLTIPS_MAX) {
    const shown = points.filter(({ value }) => value > 0)
    return html`<path class="bar-of" d="${shown.map(pathOf).join('')}"/>`
  }
  return points.map(
    (point, index) =>
      point.value > 0 &&
      html`<path class="${isLast(index) ? 'bar-of open' : 'bar-of'}" d="${pathOf(point)}"><title>${timeText(language, point.at)}: ${valueText(point.value)}</title></path>`,
  )
}
