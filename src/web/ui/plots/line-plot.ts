// Line plots of values over time, with markers for events.
import { scaleUtc } from 'd3-scale'
import { area, curveLinear, line } from 'd3-shape'
import { html, type Markup } from '../html.ts'
import type { Language } from '../languages.ts'
import type { PageContext } from '../page-context.ts'
import { svgAttributes } from './figure.ts'
import {
  drawMarks,
  EDGE,
  type Series,
  type Size,
  type SizeName,
  type TimePlot,
  timeAxis,
  timeFigure,
  valueAxis,
  valueScale,
} from './time-plot.ts'

/** Renders the figure. A single series is filled. */
export function linePlot(page: PageContext, of: TimePlot): Markup {
  return timeFigure(page, of, (name, size) => drawing(page.language, of, { name, size }))
}

function drawing(
  language: Language,
  { id, series, marks = [], hasTimes }: TimePlot,
  { name, size }: { name: SizeName; size: Size },
): Markup {
  const times = series.flatMap(({ points }) => points.map(({ at }) => at.getTime()))
  const x = scaleUtc()
    .domain([new Date(Math.min(...times)), new Date(Math.max(...times))])
    .range([EDGE.left, size.width - EDGE.right])
  const y = valueScale(series, size)
  const draw = line<Series['points'][number]>(
    ({ at }) => x(at),
    ({ value }) => y(value),
  )
    .curve(curveLinear)
    .digits(1)
  const fill = area<Series['points'][number]>(
    ({ at }) => x(at),
    y(0),
    ({ value }) => y(value),
  ).digits(1)
  const [only] = series
  return html`<svg${svgAttributes(id, name, size)}>
${valueAxis(language, y, size)}
${timeAxis(language, x, { size, hasTimes })}
${series.length === 1 && only !== undefined && html`<path class="area" d="${fill(only.points) ?? ''}"/>`}${series.map(({ points }, index) => html`<path class="line series-${index + 1}" d="${draw(points) ?? ''}"/>`)}
${drawMarks(marks, { x, size })}
</svg>`
}
