// A project's downloads as plots, tables and CSV.
import type { FastifyReply } from 'fastify'
import { listVersionNumbers } from '#features/catalogue/versions/queries.ts'
import type { DownloadSeries, ProjectStatisticsView } from '#features/operations/analytics/views.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { countOf } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import type { Language } from '#platform/html/languages.ts'
import { emptyState, segments } from '#platform/html/lists.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { type BarPlot, barPlot, barPlotCsv } from '#platform/html/plots/bar-plot.ts'
import { type LinePlot, linePlot, linePlotCsv, type Mark } from '#platform/html/plots/line-plot.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { withQuery } from '#web/kit/site-paths.ts'
import { tagName } from '../names.ts'
import { loadProject, type ProjectData } from './project-data.ts'
import { projectPage } from './project-frame.ts'

const SPANS = [30, 90, 365] as const
type Span = (typeof SPANS)[number]
const USUAL_SPAN = 90

/** Bars of a plot; the table and the CSV have all. */
const BARS_MAX = 12
/** Releases that are marked, the newest. */
const MARKS_MAX = 40

/** The parts of the downloads, by what they are told apart. */
const PARTS = ['version', 'loader', 'game-version', 'country'] as const
type PartName = (typeof PARTS)[number]

type Shown = {
  span: Span
  statistics: ProjectStatisticsView
  series: DownloadSeries
  releases: Mark[]
  numbers: Numbers
}
/** Version ID → number. */
type Numbers = ReadonlyMap<string, string>

export async function showStatistics(request: SiteRequest): Promise<FastifyReply> {
  const { page, show } = request
  const { language } = page
  const data = await loadProject(request)
  const title = language.t('site.title.statistics', { name: data.view.name })
  const found = await loadStatistics(request, data, request.viewer, spanOf(request))
  const totals = html`<div class="section-head"><h2>${language.t('site.tab.statistics')}</h2></div>
<div class="section"><dl class="totals"><div><dt>${language.t('site.downloads', { count: data.view.downloads })}</dt><dd>${countOf(language, data.view.downloads)}</dd></div><div><dt>${language.t('site.followers', { count: data.view.followers })}</dt><dd>${countOf(language, data.view.followers)}</dd></div><div><dt>${language.t('site.statistics.versions', { count: data.view.versions.length })}</dt><dd>${countOf(language, data.view.versions.length)}</dd></div></dl></div>`
  const plots =
    typeof found === 'string'
      ? emptyState(page, { icon: 'chart', title: language.t(`site.statistics.${found}`) })
      : html`<div class="plots">${plotsOf(request, data, found)}</div>`
  return show(projectPage(request, data, { tab: '/statistics', title, body: html`${totals}\n${plots}` }))
}

/** The numbers behind one of the plots. @throws ApiError 404 for an unknown one, and where the project keeps them. */
export async function sendStatisticsCsv(request: SiteRequest): Promise<FastifyReply> {
  const { query, reply, page } = request
  const data = await loadProject(request)
  const found = await loadStatistics(request, data, request.viewer, spanOf(request))
  if (found === 'failed') throw new ApiError('service_unavailable', page.language.t('site.statistics.failed'))
  if (found === 'private') throw notFound('page')
  const by = query('by')
  const part = PARTS.find((known) => known === by)
  if (part === undefined && by !== 'day') throw notFound('page')
  const csv =
    part === undefined ? linePlotCsv(dayPlot(request, data, found)) : barPlotCsv(partPlot(request, data, found, part))
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${data.view.slug}-${by}.csv"`)
    .header('cache-control', 'private, no-cache')
    .send(csv)
}

/** `private` where the viewer may not see them, `failed` where the store does not answer: the page is there anyway. */
async function loadStatistics(
  { deps, statistics }: SiteRequest,
  { project, view }: ProjectData,
  viewer: Viewer | null,
  span: Span,
): Promise<Shown | 'private' | 'failed'> {
  const found = await statistics.read(project, viewer, span).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    deps.log.warn({ err: error, project_id: view.id }, 'Statistics of a project are left out')
  })
  if (found === undefined) return 'failed'
  if (found.series === null) return 'private'
  const rows = await listVersionNumbers(deps.db, view.id)
  const releases = rows
    .slice(0, MARKS_MAX)
    .map(({ version_number, date_published }) => ({ at: date_published, label: version_number }))
  const numbers = new Map(rows.map(({ id, version_number }) => [id, version_number]))
  return { span, statistics: found, series: found.series, releases, numbers }
}

const spanOf = ({ query }: SiteRequest): Span => SPANS.find((known) => String(known) === query('d')) ?? USUAL_SPAN

/** Of a series, which is kept for a minute, by language and revision of the project. */
const drawn = new WeakMap<DownloadSeries, Map<string, Markup>>()

/** Downloads by day on the project's first page, where it shows them to everybody: the same for all who look. */
export async function projectPlot(request: SiteRequest, data: ProjectData): Promise<Part> {
  const { page } = request
  const { view, project } = data
  if (!view.public_statistics || view.downloads === 0) return null
  const found = await loadStatistics(request, data, null, USUAL_SPAN)
  if (typeof found === 'string' || found.series.days.every(({ downloads }) => downloads === 0)) return null
  const known = drawn.get(found.series) ?? new Map<string, Markup>()
  drawn.set(found.series, known)
  const key = `${page.language.tag} ${project.revision}`
  const plot = known.get(key) ?? linePlot(page, dayPlot(request, data, found))
  known.set(key, plot)
  return html`<div class="trend">${plot}</div>`
}

function plotsOf(request: SiteRequest, data: ProjectData, shown: Shown): Markup {
  const { page } = request
  const parts = PARTS.map((part) => {
    const plot = partPlot(request, data, shown, part)
    return plot.bars.length > 0 && barPlot(page, { ...plot, shownMax: BARS_MAX })
  })
  return html`${linePlot(page, dayPlot(request, data, shown))}
${parts}`
}

function dayPlot({ page }: SiteRequest, { path }: ProjectData, { span, series, releases }: Shown): LinePlot {
  const { language } = page
  const points = series.days.map(({ date, downloads }) => ({ at: new Date(date), value: downloads }))
  const sum = points.reduce((all, { value }) => all + value, 0)
  const items = SPANS.map((days) => ({
    href: pathTo(page, withQuery(`${path}/statistics`, { d: String(days) })),
    label: language.t('site.statistics.days', { count: days }),
    isCurrent: days === span,
  }))
  return {
    id: 'by-day',
    title: language.t('site.statistics.day'),
    summary: language.t('site.statistics.summary', {
      count: sum,
      average: Math.round(sum / Math.max(1, points.length)),
      today: series.today,
    }),
    controls: segments(language.t('site.statistics.span'), items),
    csvHref: pathTo(page, withQuery(`${path}/statistics.csv`, { by: 'day', d: String(span) })),
    timeLabel: language.t('site.statistics.column.day'),
    series: [{ label: language.t('site.column.downloads'), points }],
    marks: releases,
  }
}

function partPlot({ page }: SiteRequest, { path }: ProjectData, shown: Shown, part: PartName): BarPlot {
  const { language } = page
  const { span } = shown
  return {
    id: `by-${part}`,
    title: language.t(`site.statistics.${part}`),
    summary: language.t(`site.statistics.about.${part}`),
    csvHref: pathTo(page, withQuery(`${path}/statistics.csv`, { by: part, d: String(span) })),
    labels: [language.t(`site.statistics.column.${part}`), language.t('site.column.downloads')],
    bars: barsOf(language, shown, part),
  }
}

function barsOf(language: Language, { series, numbers }: Shown, part: PartName): BarPlot['bars'] {
  switch (part) {
    case 'version':
      return series.versions.map(({ version_id, downloads }) => ({
        label: numbers.get(version_id) ?? version_id,
        value: downloads,
      }))
    case 'loader':
      return series.loaders.map(({ loader, downloads }) => ({ label: tagName(loader), value: downloads }))
    case 'game-version':
      return series.game_versions.map(({ game_version, downloads }) => ({ label: game_version, value: downloads }))
    case 'country':
      return series.countries.map(({ country, downloads }) => ({
        label: countryName(language, country),
        value: downloads,
      }))
  }
}

function countryName(language: Language, code: string): string {
  if (code === 'XX' || !/^[A-Z]{2}$/.test(code)) return language.t('site.statistics.elsewhere')
  return new Intl.DisplayNames(language.tag, { type: 'region' }).of(code) ?? code
}
