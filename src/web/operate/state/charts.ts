// The charts of the overview and of the storage page, and their numbers as CSV.
import type { FastifyReply } from 'fastify'
import { loadFigures } from '#features/operation/overview/figures/load-figures.ts'
import type { FiguresView } from '#features/operation/overview/figures/views.ts'
import { listMeasures, type MeasuredDay } from '#features/operation/overview/storage/queries.ts'
import type { OverviewView } from '#features/operation/overview/views.ts'
import { notFound } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { fileSize, wholeNumber } from '#web/ui/format.ts'
import type { Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { linePlot } from '#web/ui/plots/line-plot.ts'
import { type Series, type TimePlot, timePlotCsv } from '#web/ui/plots/time-plot.ts'
import { periodOf } from './period.ts'

const CHARTS = ['requests', 'downloads', 'growth', 'times', 'review', 'storage'] as const
type Chart = (typeof CHARTS)[number]

/** Units of the storage chart, with the least maximum of each. */
const UNITS = [
  ['GiB', 1024 ** 3, 2 * 1024 ** 3],
  ['MiB', 1024 ** 2, 0],
] as const

/** Number of days from which the estimate of the growth is not shown. */
const DAYS_LEFT_SHOWN = 1_000

type Numbers = { figures: FiguresView; measures: readonly MeasuredDay[] }

/** Renders the charts of the overview. */
export function chartsOf(page: PageContext, numbers: Numbers & { overview: OverviewView }): Markup[] {
  return CHARTS.map((chart) =>
    linePlot(page, {
      ...plotOf(page, chart, numbers),
      summary: summaryOf(page, chart, numbers),
      isPartial: chart !== 'storage',
    }),
  )
}

/** Renders the chart of the storage. */
export function storageChart(page: PageContext, measures: readonly MeasuredDay[], summary: string): Markup {
  return linePlot(page, { ...storagePlot(page, measures), summary })
}

/** Sends the numbers of a chart. @throws ApiError 404 for an unknown chart */
export async function sendChart(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, query, reply } = request
  const chart = CHARTS.find((name) => name === query('chart'))
  if (chart === undefined) throw notFound('page')
  const period = periodOf(request)
  const measures = chart === 'storage' ? await listMeasures(deps.db) : []
  const plot = plotOf(page, chart, { figures: await loadFigures(deps.db, period, deps.now()), measures })
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${chart}-${period}.csv"`)
    .header('cache-control', 'private, no-cache')
    .send(timePlotCsv(plot))
}

function plotOf(page: PageContext, chart: Chart, { figures, measures }: Numbers): TimePlot {
  if (chart === 'storage') return storagePlot(page, measures)
  const { t } = page.language
  const seriesOf = (label: string, value: (point: FiguresView['points'][number]) => number | null): Series => ({
    label,
    points: figures.points.flatMap((point) => {
      const found = value(point)
      return found === null ? [] : [{ at: new Date(point.at), value: found }]
    }),
  })
  const series: Record<Exclude<Chart, 'storage'>, Series[]> = {
    requests: [
      seriesOf(t('operate.chart.requests.all'), ({ requests }) => requests),
      seriesOf(t('operate.chart.requests.limited'), ({ limited }) => limited),
      seriesOf(t('operate.chart.requests.failed'), ({ failed }) => failed),
    ],
    downloads: [seriesOf(t('operate.tile.downloads'), ({ downloads }) => downloads)],
    growth: [
      seriesOf(t('operate.tile.accounts'), ({ accounts }) => accounts),
      seriesOf(t('operate.tile.projects'), ({ projects }) => projects),
      seriesOf(t('operate.tile.versions'), ({ versions }) => versions),
    ],
    times: [
      seriesOf(t('operate.chart.times.p95'), ({ p95_ms }) => p95_ms),
      seriesOf(t('operate.chart.times.median'), ({ median_ms }) => median_ms),
    ],
    review: [seriesOf(t('operate.chart.review.projects'), ({ in_review }) => in_review)],
  }
  return {
    id: `chart-${chart}`,
    title: t(`operate.chart.${chart}`),
    summary: '',
    timeLabel: t('operate.chart.time'),
    hasTimes: figures.step_seconds * 1000 < DAY_MS,
    series: series[chart],
    csvHref: pathTo(page, withQuery('/operator/figures.csv', { chart, period: figures.period })),
  }
}

function storagePlot(page: PageContext, measures: readonly MeasuredDay[]): TimePlot {
  const { t } = page.language
  const largest = Math.max(0, ...measures.flatMap((row) => [row.version_bytes, row.image_bytes, row.event_bytes ?? 0]))
  const [unit, size] = UNITS.find(([, , least]) => largest >= least) ?? UNITS[1]
  const seriesOf = (label: string, bytes: (row: MeasuredDay) => number | null): Series => ({
    label,
    points: measures.map((row) => ({ at: new Date(row.day), value: Math.round(((bytes(row) ?? 0) / size) * 10) / 10 })),
  })
  return {
    id: 'chart-storage',
    title: t('operate.chart.storage', { unit }),
    summary: '',
    timeLabel: t('operate.chart.day'),
    series: [
      seriesOf(t('operate.kind.version_files'), ({ version_bytes }) => version_bytes),
      seriesOf(t('operate.kind.images'), ({ image_bytes }) => image_bytes),
      seriesOf(t('operate.kind.events'), ({ event_bytes }) => event_bytes),
    ],
    csvHref: pathTo(page, withQuery('/operator/figures.csv', { chart: 'storage' })),
  }
}

function summaryOf(
  page: PageContext,
  chart: Chart,
  { figures, overview }: Numbers & { overview: OverviewView },
): string {
  const { language } = page
  const { t } = language
  const { totals } = figures
  if (chart === 'requests')
    return t('operate.chart.requests.text', {
      requests: totals.requests,
      limited: totals.limited,
      failed: totals.failed,
    })
  if (chart === 'storage') return diskText(page, overview.disk)
  if (chart === 'downloads') return t('operate.chart.downloads.text', { downloads: totals.downloads })
  if (chart === 'growth') {
    const { accounts, projects, versions } = totals
    return t('operate.chart.growth.text', { accounts, projects, versions })
  }
  if (chart === 'review') {
    const { projects, since } = overview.in_review
    const days = since === null ? 0 : Math.floor((page.now - new Date(since).getTime()) / DAY_MS)
    return t('operate.chart.review.text', { projects, days })
  }
  if (totals.p95_ms === null || totals.median_ms === null) return t('operate.chart.times.none')
  const [median, p95] = [totals.median_ms, totals.p95_ms].map((ms) => wholeNumber(language, Math.round(ms)))
  return t('operate.chart.times.text', { median, p95 })
}

/** Returns a sentence about the free space and the days until the disk is full. */
export function diskText(page: PageContext, disk: OverviewView['disk']): string {
  const { language } = page
  const values = { free: fileSize(language, disk.free_bytes), total: fileSize(language, disk.total_bytes) }
  return disk.days_left === null || disk.days_left > DAYS_LEFT_SHOWN
    ? language.t('operate.disk', values)
    : language.t('operate.disk.days', { ...values, days: disk.days_left })
}
