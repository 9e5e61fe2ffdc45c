// Line plots of values over time, with markers for events.
import { scaleUtc } from 'd3-scale'
import { area, curveLinear, line } from 'd3-shape'
import { html, type Markup } from '../html.ts'
import type { Language } from '../languages.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, svgAttributes } from './figure.ts'
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

/** `isPartial`: the last step is not complete, so that the lines to it are dashed. */
export type LinePlot = TimePlot & { isPartial?: boolean }
type Points = Series['points']

/** Renders the figure. A single series is filled. */
export function linePlot(page: PageContext, of: LinePlot): Markup {
  return timeFigure(page, of, (name, size) => drawing(page.language, of, { name, size }))
}

function drawing(
  language: Language,
  { id, series, marks = [], hasTimes, isPartial = false }: LinePlot,
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
  const pathOf = (points: Points, name: string) =>
    points.length > 1 && html`<path class="line ${name}" d="${draw([...points]) ?? ''}"/>`
  const lines = series.map(({ points }, index) => {
    const name = `series-${index + 1}`
    const [single] = points
    if (points.length === 1 && single !== undefined)
      return html`<circle class="dot ${name}" cx="${coordinate(x(single.at))}" cy="${coordinate(y(single.value))}" r="4"/>`
    return isPartial
      ? [pathOf(points.slice(0, -1), name), pathOf(points.slice(-2), `${name} open`)]
      : pathOf(points, name)
  })
  return html`<svg${svgAttributes(id, name, size)}>
${valueAxis(language, y, size)}
${timeAxis(language, x, { size, hasTimes })}
${series.length === 1 && only !== undefined && html`<path class="area" d="${fill(only.points) ?? ''}"/>`}${lines}
${drawMarks(marks, { x, size })}
</svg>`
}
