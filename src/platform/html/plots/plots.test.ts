import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { barPlot, barPlotCsv } from './bar-plot.ts'
import { columnPlot } from './column-plot.ts'
import { linePlot } from './line-plot.ts'
import { spark } from './spark.ts'
import { timePlotCsv } from './time-plot.ts'

const START = Date.UTC(2026, 0, 1)
const HOSTILE = '=1+"<script>alert(1)</script>"'

function days(count: number, valueAt: (index: number) => number) {
  return Array.from({ length: count }, (_, index) => ({ at: new Date(START + index * DAY_MS), value: valueAt(index) }))
}

const figure = { id: 'downloads', title: 'Downloads per day', summary: 'About 20 a day.', csvHref: '/x.csv' }

test('a line plot has two images with a name, the same numbers as a table, and a link to CSV', () => {
  const page = samplePage()
  const plot = String(
    linePlot(page, {
      ...figure,
      timeLabel: 'Day',
      series: [{ label: 'Downloads', points: days(90, (index) => 20_000 + 1000 * (index % 7)) }],
      marks: [
        { at: new Date(START + 10 * DAY_MS), label: HOSTILE },
        { at: new Date(START - DAY_MS), label: 'before' },
      ],
    }),
  )
  assertValidHtml(
    layout(page, { title: 'x', body: html`<h1>x</h1>${linePlot(page, { ...figure, timeLabel: 'Day', series: [] })}` }),
  )
  assert.equal(
    plot.match(/role="img" aria-labelledby="downloads-title" aria-describedby="downloads-summary"/g)?.length,
    2,
  )
  assert.equal(plot.match(/<tr><th scope="row">/g)?.length, 90)
  assert.match(plot, /<th scope="row">Jan 2<\/th><td>21,000<\/td>/)
  assert.equal(plot.match(/class="mark"/g)?.length, 2)
  assert.ok(!plot.includes('<script') && !/NaN|Infinity|style=/.test(plot))
  // The highest value is at the height that the axis gives it: 26,000 of 30,000 between 206 and 26.
  const path = /<path class="line series-1" d="M44,([\d.]+)L/.exec(plot)?.[1]
  assert.equal(Number(path), 206 - (20_000 / 30_000) * 180)
})

test('a column plot has a column per step, the open step, the previous period as a line, and tooltips', () => {
  const page = samplePage()
  const points = days(30, (index) => (index === 3 ? 0 : 100 + index))
  const plot = String(
    columnPlot(page, {
      ...figure,
      timeLabel: 'Day',
      stepMs: DAY_MS,
      isPartial: true,
      series: [
        { label: 'Now', points },
        { label: 'Before', points },
      ],
      marks: [{ at: new Date(START + 10 * DAY_MS), label: HOSTILE }],
    }),
  )
  assert.equal(plot.match(/class="bar-of/g)?.length, 2 * 29, 'a day without downloads has no column')
  assert.equal(plot.match(/class="bar-of open"/g)?.length, 2)
  assert.match(plot, /<title>Jan 30: 129<\/title>/)
  assert.equal(plot.match(/class="line series-2"/g)?.length, 2)
  assert.equal(plot.match(/class="mark"/g)?.length, 2)
  assert.ok(!plot.includes('<script') && !/NaN|Infinity|style=/.test(plot))
})

test('plots of nothing, of one day, of zeros and of huge numbers draw no nonsense', () => {
  const page = samplePage()
  for (const points of [[], days(1, () => 5), days(2, () => 0), days(3, () => 9e15), days(400, (index) => index % 2)]) {
    const series = ['a', 'b', 'c'].map((label) => ({ label, points }))
    const columns = String(columnPlot(page, { ...figure, timeLabel: 'Day', stepMs: DAY_MS, series }))
    assert.ok(!/NaN|Infinity|undefined/.test(columns), columns.slice(0, 500))
    const plot = String(linePlot(page, { ...figure, timeLabel: 'Day', series }))
    assert.ok(!/NaN|Infinity|undefined/.test(plot), plot.slice(0, 500))
    assertValidHtml(
      layout(page, { title: 'x', body: html`<h1>x</h1>${linePlot(page, { ...figure, timeLabel: 'Day', series })}` }),
    )
  }
})

test('bars are as long as their numbers', () => {
  const page = samplePage()
  const bars = [
    { label: HOSTILE, value: 200 },
    { label: 'Quilt', value: 50 },
    { label: 'none', value: 0 },
  ]
  const plot = barPlot(page, { ...figure, labels: ['Loader', 'Downloads'], bars })
  assertValidHtml(layout(page, { title: 'x', body: html`<h1>x</h1>${plot}` }))
  const lengths = [...String(plot).matchAll(/<rect[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width))
  assert.deepEqual(lengths.slice(0, 3), [534, 133.5, 1])
  assert.ok(!String(barPlot(page, { ...figure, labels: ['a', 'b'], bars: [] })).includes('role="img"'))
})

test('a spark line keeps to its box and needs two numbers', () => {
  assert.equal(spark([1]), null)
  assert.equal(spark([]), null)
  assert.match(String(spark([0, 5, 10])), /<path d="M0,24L50,12\.5L100,1"\/>/)
})

test('CSV holds the numbers as they are, and no formula', () => {
  const points = days(2, (index) => index + 0.5)
  assert.equal(
    timePlotCsv({ timeLabel: 'time', series: [{ label: 'a,b', points }] }),
    'time,"a,b"\r\n2026-01-01T00:00:00.000Z,0.5\r\n2026-01-02T00:00:00.000Z,1.5\r\n',
  )
  assert.equal(
    barPlotCsv({
      labels: ['loader', 'downloads'],
      bars: [
        { label: HOSTILE, value: -1 },
        { label: 'a\nb', value: 2 },
      ],
    }),
    `loader,downloads\r\n"'=1+""<script>alert(1)</script>""",-1\r\n"a\nb",2\r\n`,
  )
})
