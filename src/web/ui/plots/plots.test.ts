import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { barPlot, barPlotCsv } from './bar-plot.ts'
import { columnPlot } from './column-plot.ts'
import { linePlot } from './line-plot.ts'
import { sharePlot, sharePlotCsv } from './share-plot.ts'
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

test('the lines to a step that is not complete are dashed, and a single point is a dot', () => {
  const page = samplePage()
  const draw = (count: number, isPartial: boolean) => {
    const series = [{ label: 'Downloads', points: days(count, (index) => index) }]
    return String(linePlot(page, { ...figure, timeLabel: 'Day', series, isPartial }))
  }
  assert.deepEqual(
    draw(3, true)
      .match(/class="(?:line|dot)[^"]*"/g)
      ?.slice(0, 2),
    ['class="line series-1"', 'class="line series-1 open"'],
  )
  assert.ok(!draw(3, false).includes('open"'))
  for (const isPartial of [true, false]) {
    const single = draw(1, isPartial)
    assert.match(single, /<circle class="dot series-1" cx="[\d.]+" cy="[\d.]+"/)
    assert.ok(!single.includes('class="line') && !single.includes('NaN'), single)
  }
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
  const lengths = [...String(plot).matchAll(/<rect[^>]* width="([\d.]+)%"/g)].map(([, width]) => Number(width))
  assert.deepEqual(lengths, [100, 25, 0])
  assert.ok(!String(barPlot(page, { ...figure, labels: ['a', 'b'], bars: [] })).includes('<rect'))
})

test('bars have whole labels and, as parts of a sum, shares; the smaller ones are folded', () => {
  const page = samplePage()
  const bars = Array.from({ length: 5 }, (_, index) => ({
    label: '\u{1f9d9}'.repeat(64) + index,
    value: 40 - 10 * index,
  }))
  const plot = barPlot(page, { ...figure, labels: ['Version', 'Downloads'], bars, shownMax: 3, hasShares: true })
  assertValidHtml(layout(page, { title: 'x', body: html`<h1>x</h1>${plot}` }))
  const [shown = '', folded = ''] = String(plot).split('<details><summary>Show 2 more</summary>')
  assert.equal(shown.match(/<rect/g)?.length, 3)
  assert.equal(folded.match(/<rect/g)?.length, 2)
  for (const { label } of bars) assert.ok(String(plot).includes(`<bdi>${label}</bdi>`))
  assert.match(shown, /<td>40<\/td><td class="soft">40%<\/td>/)
})

test('shares fill each column, and are empty in a period without values', () => {
  const page = samplePage()
  const periods = [
    [3, 1],
    [0, 0],
    [0, 7],
  ].map((values, index) => ({ at: new Date(START + index * DAY_MS), values }))
  const of = { ...figure, parts: [HOSTILE, 'Others'], periods, timeLabel: 'From' }
  const plot = String(sharePlot(page, of))
  assertValidHtml(layout(page, { title: 'x', body: html`<h1>x</h1>${sharePlot(page, of)}` }))
  const [wide = ''] = plot.split('<svg class="narrow')
  assert.deepEqual(
    [...wide.matchAll(/class="share-(\d)"[^>]* height="([\d.]+)"/g)].map(([, part, height]) => [part, height]),
    [
      ['1', '133.5'],
      ['6', '44.5'],
      ['6', '178'],
    ],
  )
  assert.match(plot, /<td>75%<\/td><td>25%<\/td>/)
  assert.ok(!/NaN|Infinity|<script|style=/.test(plot))
  const none = periods.map((period) => ({ ...period, values: [0, 0] }))
  assert.ok(!String(sharePlot(page, { ...of, periods: none })).includes('<rect'))
  assert.equal(sharePlotCsv({ ...of, periods: periods.slice(0, 1) }).split('\r\n')[1], '2026-01-01T00:00:00.000Z,3,1')
})

test('a spark line keeps to its box and needs two numbers', () => {
  assert.equal(spark([1]), null)
  assert.equal(spark([]), null)
  assert.match(String(spark([0, 5, 10])), /viewBox="0 0 2 25".*<path d="M0 24l1-11 1-12"\/>/)
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
