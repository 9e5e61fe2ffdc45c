// The statistics of a project: downloads as plots, tables and CSV.

import type { FastifyReply } from 'fastify'
import { type CachedProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import type { DownloadSeries } from '#features/reading/analytics/views.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { projectPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { countOf, countryName, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, hiddenField } from '#web/ui/parts/fields.ts'
import { emptyState, segments } from '#web/ui/parts/lists.ts'
import { type BarPlot, barPlot, barPlotCsv } from '#web/ui/plots/bar-plot.ts'
import { linePlot } from '#web/ui/plots/line-plot.ts'
import { type SharePlot, sharePlot, sharePlotCsv } from '#web/ui/plots/share-plot.ts'
import { type TimePlot, timePlotCsv } from '#web/ui/plots/time-plot.ts'
import { tagName } from '../names.ts'
import {
  DEFAULT_SPAN,
  type Downloads,
  loadDownloads,
  loadProject,
  type ProjectData,
  SPANS,
  type Span,
} from './project-data.ts'
import { projectPage } from './project-frame.ts'

/** Maximum number of bars in a plot. The table and the CSV file contain all. */
const BARS_MAX = 12

/** Dimensions by which the statistics divide the downloads. */
const DIMENSIONS = ['version', 'loader', 'game-version', 'country'] as const
type Dimension = (typeof DIMENSIONS)[number]

export async function showStatistics(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { page, show, viewer, language } = request
  const data = await loadProject(request, project)
  const downloads = await loadDownloads(request, data, viewer, spanOf(request))
  const siblings = typeof downloads === 'string' ? [] : await loadSiblings(request, data)
  const others = typeof downloads === 'string' ? [] : await loadOthers(request, siblings, downloads.span)
  const { view } = data
  const title = language.t('site.title.statistics', { name: view.name })
  const totals = html`<div class="section-head"><h1>${language.t('site.tab.statistics')}</h1></div>
<div class="section"><dl class="totals"><div><dt>${language.t('site.downloads', { count: view.downloads })}</dt><dd>${countOf(language, view.downloads)}</dd></div><div><dt>${language.t('site.followers', { count: view.followers })}</dt><dd>${countOf(language, view.followers)}</dd></div><div><dt>${language.t('site.statistics.versions', { count: view.versions.length })}</dt><dd>${countOf(language, view.versions.length)}</dd></div></dl></div>`
  const plots =
    typeof downloads === 'string'
      ? emptyState(page, { icon: 'chart', title: language.t(`site.statistics.${downloads}`) })
      : html`<div class="plots">${plotsOf(page, data, downloads, others)}</div>
${compareSection(request, data, { downloads, others, siblings })}`
  return show(projectPage(request, data, { tab: '/statistics', title, body: html`${totals}\n${plots}` }))
}

/** Sends the numbers of one plot. @throws ApiError 404 for an unknown plot, and if the statistics are private */
export async function sendStatisticsCsv(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { query, reply, page, viewer } = request
  const data = await loadProject(request, project)
  const downloads = await loadDownloads(request, data, viewer, spanOf(request))
  if (downloads === 'failed') throw new ApiError('service_unavailable', page.language.t('site.statistics.failed'))
  if (downloads === 'private') throw notFound('page')
  const by = query('by')
  const dimension = DIMENSIONS.find((name) => name === by)
  if (dimension === undefined && by !== 'day' && by !== 'share') throw notFound('page')
  const csv =
    dimension !== undefined
      ? barPlotCsv(dimensionPlot(page, data, downloads, dimension))
      : by === 'share'
        ? sharePlotCsv(versionShares(page, data, downloads))
        : timePlotCsv(dayPlot(page, data, downloads))
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${data.view.slug}-${by}.csv"`)
    .header('cache-control', 'private, no-cache')
    .send(csv)
}

const spanOf = ({ query }: PageRequest): Span => SPANS.find((days) => String(days) === query('d')) ?? DEFAULT_SPAN

/** Plots by language and revision of the project, for a series that is cached for a minute. */
const drawnPlots = new WeakMap<DownloadSeries, Map<string, Markup>>()

/** Draws the public downloads per day for the first page of a project. */
export function projectPlot(page: PageContext, data: ProjectData, downloads: Downloads | undefined): Part {
  if (downloads === undefined || downloads.series.days.every((day) => day.downloads === 0)) return null
  const drawn = drawnPlots.get(downloads.series) ?? new Map<string, Markup>()
  drawnPlots.set(downloads.series, drawn)
  const key = `${page.language.tag} ${data.project.revision}`
  const plot = drawn.get(key) ?? linePlot(page, dayPlot(page, data, downloads))
  drawn.set(key, plot)
  return html`<div class="trend">${plot}</div>`
}

function plotsOf(page: PageContext, data: ProjectData, downloads: Downloads, others: readonly Other[]): Markup {
  const dimensions = DIMENSIONS.map((dimension) => {
    const plot = dimensionPlot(page, data, downloads, dimension)
    return plot.bars.length > 0 && barPlot(page, { ...plot, shownMax: BARS_MAX })
  })
  const shares = versionShares(page, data, downloads)
  return html`${linePlot(page, dayPlot(page, data, downloads, others))}
${shares.parts.length > 1 && sharePlot(page, shares)}
${dimensions}`
}

/** With other projects, the plot has a line for each project and no marks for releases. */
function dayPlot(
  page: PageContext,
  { path, view }: ProjectData,
  { span, series, releases }: Downloads,
  others: readonly Other[] = [],
): TimePlot {
  const { language } = page
  const pointsOf = ({ days }: DownloadSeries) =>
    days.map(({ date, downloads }) => ({ at: new Date(date), value: downloads }))
  const points = pointsOf(series)
  const sum = points.reduce((all, { value }) => all + value, 0)
  const compared = others.map((other) => other.view.slug)
  const items = SPANS.map((days) => ({
    href: pathTo(page, withQuery(`${path}/statistics`, { d: String(days), with: compared })),
    label: language.t('site.statistics.days', { count: days }),
    isCurrent: days === span,
  }))
  const label = others.length > 0 ? view.name : language.t('site.column.downloads')
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
    series: [{ label, points }, ...others.map((other) => ({ label: other.view.name, points: pointsOf(other.series) }))],
    marks: others.length > 0 ? [] : releases,
  }
}

/** The shares of the most downloaded versions, and of all others, over time. */
function versionShares(page: PageContext, { path }: ProjectData, downloads: Downloads): SharePlot {
  const { language } = page
  const { series, numbers, span } = downloads
  const names = (series.periods[0]?.versions ?? []).map(({ version_id }) => numbers.get(version_id) ?? version_id)
  const periods = series.periods.map(({ start, downloads: total, versions }) => {
    const values = versions.map((version) => version.downloads)
    return { at: new Date(start), values: [...values, Math.max(0, total - values.reduce((all, one) => all + one, 0))] }
  })
  return {
    id: 'by-share',
    title: language.t('project.statistics.share'),
    summary: language.t('project.statistics.about.share'),
    csvHref: pathTo(page, withQuery(`${path}/statistics.csv`, { by: 'share', d: String(span) })),
    timeLabel: language.t('project.statistics.column.period'),
    parts: [...names, language.t('project.statistics.other-versions')],
    periods,
  }
}

function dimensionPlot(page: PageContext, { path }: ProjectData, downloads: Downloads, dimension: Dimension): BarPlot {
  const { language } = page
  return {
    id: `by-${dimension}`,
    title: language.t(`site.statistics.${dimension}`),
    summary: language.t(`site.statistics.about.${dimension}`),
    csvHref: pathTo(page, withQuery(`${path}/statistics.csv`, { by: dimension, d: String(downloads.span) })),
    labels: [language.t(`site.statistics.column.${dimension}`), language.t('site.column.downloads')],
    bars: barsOf(language, downloads, dimension),
    // A download counts for several loaders and game versions.
    hasShares: dimension === 'version' || dimension === 'country',
  }
}

function barsOf(language: Language, { series, numbers }: Downloads, dimension: Dimension): BarPlot['bars'] {
  switch (dimension) {
    case 'version':
      return series.versions.map(({ version_id, downloads }) => ({
        label: numbers.get(version_id) ?? version_id,
        value: downloads,
      }))
    case 'loader':
      return series.loaders.map(({ loader, downloads }) => ({ label: tagName(language, loader), value: downloads }))
    case 'game-version':
      return series.game_versions.map(({ game_version, downloads }) => ({ label: game_version, value: downloads }))
    case 'country':
      return series.countries.map(({ country, downloads }) => ({
        label: country === 'XX' ? language.t('site.statistics.elsewhere') : countryName(language, country),
        value: downloads,
      }))
  }
}

/** Maximum number of other projects in the comparison: a plot has at most three lines. */
const OTHERS_MAX = 2
/** Maximum number of projects to choose from, most downloaded first. */
const CHOICES_MAX = 24

type Sibling = { project: CachedProject; view: ProjectView }
type Other = Sibling & { series: DownloadSeries }

/** Returns the other public projects of the owner that show their statistics. */
async function loadSiblings({ deps }: PageRequest, { project }: ProjectData): Promise<Sibling[]> {
  const { organization_id, team_id } = project
  const team = organization_id === null ? (await listCachedTeams(deps, [team_id])).get(team_id) : undefined
  const owner = team?.members.find(({ is_owner }) => is_owner)?.account_id
  const ids =
    organization_id !== null
      ? await listOrganizationProjectIds(deps.db, null, [organization_id])
      : owner === undefined
        ? []
        : await listProjectIdsOf(deps.db, null, owner)
  const projects = await listVisibleProjects(
    deps,
    null,
    ids.filter((id) => id !== project.id),
  )
  return projects
    .map((each) => ({ project: each, view: viewOf(each) }))
    .filter(({ view }) => view.public_statistics)
    .sort((a, b) => b.view.downloads - a.view.downloads)
    .slice(0, CHOICES_MAX)
}

/** Returns the series of the projects that the query names. Leaves out those that the analytics store cannot read. */
async function loadOthers(
  { statistics, queries }: PageRequest,
  siblings: readonly Sibling[],
  span: number,
): Promise<Other[]> {
  const wanted = queries('with')
  const chosen = siblings.filter(({ view }) => wanted.includes(view.slug)).slice(0, OTHERS_MAX)
  const read = await Promise.all(
    chosen.map(async (sibling) => {
      const result = await statistics.read(sibling.project, null, span).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status < 500) throw error
      })
      return result === undefined || result.series === null ? [] : [{ ...sibling, series: result.series }]
    }),
  )
  return read.flat()
}

/** Shows a form to choose projects, and the numbers of the chosen projects side by side. */
function compareSection(
  { page }: PageRequest,
  { view, path }: ProjectData,
  { downloads, others, siblings }: { downloads: Downloads; others: readonly Other[]; siblings: readonly Sibling[] },
): Part {
  const { language } = page
  if (siblings.length === 0) return null
  const { t } = language
  const chosen = others.map((other) => other.view.slug)
  const boxes = siblings.map(
    ({ view: { slug, name } }) =>
      html`<li>${checkbox({ name: 'with', value: slug, isChecked: chosen.includes(slug), label: html`<bdi>${name}</bdi>` })}</li>`,
  )
  const compared = [{ view, series: downloads.series }, ...others]
  const row = (label: string, amountOf: (each: (typeof compared)[number]) => number) =>
    html`<tr><th scope="row">${label}</th>${compared.map((each) => html`<td class="num">${wholeNumber(language, amountOf(each))}</td>`)}</tr>
`
  const inSpan = ({ series }: { series: DownloadSeries }) => series.days.reduce((sum, day) => sum + day.downloads, 0)
  const table =
    others.length > 0 &&
    html`<div class="scroll" tabindex="0" role="group" aria-label="${t('project.statistics.compare')}"><table class="versions"><thead><tr><td></td>${compared.map((each) => html`<th scope="col"><a href="${pathTo(page, projectPath(each.view))}"><bdi>${each.view.name}</bdi></a></th>`)}</tr></thead><tbody>
${row(t('project.statistics.in-span', { days: downloads.span }), inSpan)}${row(t('project.statistics.per-day'), (each) => Math.round(inSpan(each) / Math.max(1, each.series.days.length)))}${row(t('project.statistics.all-time'), (each) => each.view.downloads)}${row(t('site.sort.follows'), (each) => each.view.followers)}</tbody></table></div>`
  return html`<section class="section" aria-labelledby="compare-head"><h2 id="compare-head">${t('project.statistics.compare')}</h2>
${table}
<form action="${pathTo(page, `${path}/statistics`)}">${hiddenField('d', String(downloads.span))}<fieldset><legend class="soft small">${t('project.statistics.choose', { count: OTHERS_MAX })}</legend><ul class="ticks">${boxes}</ul></fieldset><p><button>${t('project.statistics.show')}</button></p></form></section>`
}
