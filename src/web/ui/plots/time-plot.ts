// The common parts of plots over time: sizes, axes, markers of events, and the table behind the plot.
import { type ScaleLinear, type ScaleTime, scaleLinear } from 'd3-scale'
import { csvLines } from '#lib/text/csv.ts'
import { DAY_MS } from '#lib/time.ts'
import { clockText, shortDayText, shortNumber, shortTimeText, wholeNumber } from '../format.ts'
import { html, type Markup, type Part } from '../html.ts'
import type { Language } from '../languages.ts'
import type { PageContext } from '../page-context.ts'
import { coordinate, type PlotFigure, plotFigure } from './figure.ts'

export type Series = { label: string; points: readonly { at: Date; value: number }[] }
/** Marker for an event, such as a release. */
export type Mark = { at: Date; label: string }

export type TimePlot = PlotFigure & {
  /** At most three series over the same times, ascending. */
  series: readonly Series[]
  marks?: readonly Mark[]
  /** Header of the time column: `Week from`. */
  timeLabel: string
  /** Whether the times are shorter than a day apart, so that axes and tables show the time of the day (UTC). */
  hasTimes?: boolean
  /** Formats the values of the table. Default: whole numbers */
  valueText?: (value: number) => string
}

/** Two sizes of a plot; the style sheet shows the one that fits. */
const SIZES = {
  wide: { width: 760, height: 230, ticks: 4, dates: 6 },
  narrow: { width: 340, height: 190, ticks: 2, dates: 3 },
}
export type SizeName = keyof typeof SIZES
export type Size = (typeof SIZES)[SizeName]
export const EDGE = { left: 44, right: 8, top: 26, bottom: 24 }
/** Minimum distance of marker labels in pixels. A marker that is closer to the previous label has no label. */
const MARK_DISTANCE = 44

/** Renders the figure of a plot. `draw` renders one size of its image. */
export function timeFigure(page: PageContext, of: TimePlot, draw: (name: SizeName, size: Size) => Markup): Markup {
  const { language } = page
  const [first] = of.series
  const isEmpty = first === undefined || first.points.length === 0
  const images = isEmpty
    ? html`<p class="soft">${language.t('plot.empty')}</p>`
    : (['wide', 'narrow'] as const).map((name) => draw(name, SIZES[name]))
  const legend =
    of.series.length > 1 &&
    html`<ul class="legend">${of.series.map(({ label }, index) => html`<li class="series-${index + 1}">${label}</li>`)}</ul>
`
  const valueText = of.valueText ?? ((value: number) => wholeNumber(language, value))
  const rows = (first?.points ?? []).map(({ at }, index) => ({
    name: of.hasTimes === true ? shortTimeText(language, at) : shortDayText(language, at),
    cells: of.series.map(({ points }) => valueText(points[index]?.value ?? 0)),
  }))
  const header = [of.timeLabel, ...of.series.map(({ label }) => label)]
  return plotFigure(page, of, { images: [legend, images], table: { header, rows } })
}

/** Returns the values of a plot as CSV, with times in RFC 3339. */
export function timePlotCsv({ series, timeLabel }: Pick<TimePlot, 'series' | 'timeLabel'>): string {
  const times = series[0]?.points ?? []
  return csvLines([
    [timeLabel, ...series.map(({ label }) => label)],
    ...times.map(({ at }, index) => [at.toISOString(), ...series.map(({ points }) => points[index]?.value ?? 0)]),
  ])
}

type ValueScale = ScaleLinear<number, number>
export type TimeScale = ScaleTime<number, number>

/** Returns the scale of the values, from 0 to at least 1. */
export function valueScale(series: readonly Series[], size: Size): ValueScale {
  const values = series.flatMap(({ points }) => points.map(({ value }) => value))
  return scaleLinear()
    .domain([0, Math.max(1, ...values)])
    .nice(size.ticks)
    .range([size.height - EDGE.bottom, EDGE.top])
}

/** Renders the horizontal lines with their values. */
export function valueAxis(language: Language, y: ValueScale, size: Size): Markup[] {
  return y
    .ticks(size.ticks)
    .filter(Number.isInteger)
    .map((tick) => {
      const height = coordinate(y(tick))
      return html`<line class="grid" x1="${EDGE.left}" x2="${size.width - EDGE.right}" y1="${height}" y2="${height}"/><text class="y" x="${EDGE.left - 8}" y="${coordinate(y(tick) + 4)}">${shortNumber(language, tick)}</text>`
    })
}

/** Renders the times below the plot, moved to the right by `shift` pixels. */
export function timeAxis(language: Language, x: TimeScale, { size, hasTimes = false, shift = 0 }: AxisOptions): Part {
  return x
    .ticks(size.dates)
    .map(
      (tick) =>
        html`<text class="x" x="${coordinate(x(tick) + shift)}" y="${size.height - 5}">${hasTimes ? tickText(language, tick, x) : shortDayText(language, tick)}</text>`,
    )
}
type AxisOptions = { size: Size; hasTimes?: boolean | undefined; shift?: number }

/** Returns the time of a tick, or its day if the plot covers several days. */
function tickText(language: Language, tick: Date, x: TimeScale): string {
  const [start = 0, end = 0] = x.domain().map(Number)
  return end - start > 2 * DAY_MS ? shortDayText(language, tick) : clockText(language, tick)
}

/** Renders the markers of the events in the time of the plot. */
export function drawMarks(marks: readonly Mark[], { x, size }: { x: TimeScale; size: Size }): Markup[] {
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
