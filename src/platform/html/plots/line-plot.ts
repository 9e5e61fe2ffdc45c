// Line plots of values over time, with markers for events.
import { scaleLinear, scaleUtc } from 'd3-scale'
import { area, curveLinear, line } from 'd3-shape'
import { csvLines } from '#lib/text/csv.ts'
import { DAY_MS } from '#lib/time.ts'
import { clockText, shortDayText, shortNumber, shortTimeText, wholeNumber } from '../format.ts'
import { html, type Markup } from '../html.ts'
import type { Language } from '../languages.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, type PlotFigure, plotFigure, svgAttributes } from './figure.ts'

export type Series = { label: string; points: readonly { at: Date; value: number }[] }
/** Marker for an event, such as a release. */
export type Mark = { at: Date; label: string }

export type LinePlot = PlotFigure & {
  /** At most three series over the same times, ascending. A single series is filled. */
  series: readonly Series[]
  marks?: readonly Mark[]
  /** Header of the time column: `Week from`. */
  timeLabel: string
  /** Whether the times are shorter than a day apart, so that axes and tables show the time of the day (UTC). */
  hasTimes?: boolean
}

/** Two sizes of a plot; the style sheet shows the one that fits. */
const SIZES = {
  wide: { width: 760, height: 230, ticks: 4, dates: 6 },
  narrow: { width: 340, height: 190, ticks: 2, dates: 3 },
}
type Size = (typeof SIZES)[keyof typeof SIZES]
const EDGE = { left: 44, right: 8, top: 26, bottom: 24 }
/** Minimum distance of marker labels in pixels. A marker that is closer to the previous label has no label. */
const MARK_DISTANCE = 44

export function linePlot(page: PageContext, of: LinePlot): Markup {
  const { language } = page
  const [first] = of.series
  const isEmpty = first === undefined || first.points.length === 0
  const images = isEmpty
    ? html`<p class="soft">${language.t('plot.empty')}</p>`
    : (['wide', 'narrow'] as const).map((name) => drawing(language, of, name))
  const legend =
    of.series.length > 1 &&
    html`<ul class="legend">${of.series.map(({ label }, index) => html`<li class="series-${index + 1}">${label}</li>`)}</ul>
`
  const rows = (first?.points ?? []).map(({ at }, index) => ({
    name: of.hasTimes === true ? shortTimeText(language, at) : shortDayText(language, at),
    cells: of.series.map(({ points }) => wholeNumber(language, points[index]?.value ?? 0)),
  }))
  const header = [of.timeLabel, ...of.series.map(({ label }) => label)]
  return plotFigure(page, of, { images: [legend, images], table: { header, rows } })
}

/** Returns the values of a plot as CSV, with times in RFC 3339. */
export function linePlotCsv({ series, timeLabel }: Pick<LinePlot, 'series' | 'timeLabel'>): string {
  const times = series[0]?.points ?? []
  return csvLines([
    [timeLabel, ...series.map(({ label }) => label)],
    ...times.map(({ at }, index) => [at.toISOString(), ...series.map(({ points }) => points[index]?.value ?? 0)]),
  ])
}

function drawing(
  language: Language,
  { id, series, marks = [], hasTimes = false }: LinePlot,
  name: keyof typeof SIZES,
): Markup {
  const size: Size = SIZES[name]
  const points = series.flatMap((one) => one.points)
  const times = points.map(({ at }) => at.getTime())
  const x = scaleUtc()
    .domain([new Date(Math.min(...times)), new Date(Math.max(...times))])
    .range([EDGE.left, size.width - EDGE.right])
  const y = scaleLinear()
    .domain([0, Math.max(1, ...points.map(({ value }) => value))])
    .nice(size.ticks)
    .range([size.height - EDGE.bottom, EDGE.top])
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
${y
  .ticks(size.ticks)
  .filter(Number.isInteger)
  .map((tick) => {
    const height = coordinate(y(tick))
    return html`<line class="grid" x1="${EDGE.left}" x2="${size.width - EDGE.right}" y1="${height}" y2="${height}"/><text class="y" x="${EDGE.left - 8}" y="${coordinate(y(tick) + 4)}">${shortNumber(language, tick)}</text>`
  })}
${x.ticks(size.dates).map((tick) => html`<text class="x" x="${coordinate(x(tick))}" y="${size.height - 5}">${hasTimes ? tickText(language, tick, times) : shortDayText(language, tick)}</text>`)}
${series.length === 1 && only !== undefined && html`<path class="area" d="${fill(only.points) ?? ''}"/>`}${series.map(({ points }, index) => html`<path class="line series-${index + 1}" d="${draw(points) ?? ''}"/>`)}
${drawMarks(marks, { x, size })}
</svg>`
}

/** Returns the time of a tick, or its day if the plot covers several days. */
function tickText(language: Language, tick: Date, times: readonly number[]): string {
  const isLong = Math.max(...times) - Math.min(...times) > 2 * DAY_MS
  return isLong ? shortDayText(language, tick) : clockText(language, tick)
}

type TimeScale = ReturnType<typeof scaleUtc<number, number>>

function drawMarks(marks: readonly Mark[], { x, size }: { x: TimeScale; size: Size }): Markup[] {
  const [start = new Date(0), end = new Date(0)] = x.domain()
  let last = Number.NEGATIVE_INFINITY
  return marks
    .filter(({ at }) => at >= start && at <= end)
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, label }) => {
      const place = x(at)
      const hasRoom = place - last >= MARK_DISTANCE
      if (hasRoom) last = place
      const across = coordinate(place)
      const text = hasRoom && html`<text x="${across}" y="13">${label.slice(0, 12)}</text>`
      return html`<g class="mark"><line x1="${across}" x2="${across}" y1="18" y2="${size.height - EDGE.bottom}"/>${text}</g>`
    })
}
