// Compares the downloads of a project with those of other projects of the same owner.

import { type CachedProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import type { DownloadSeries } from '#features/reading/analytics/views.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { checkbox, hiddenField } from '#web/ui/parts/fields.ts'
import type { Downloads, ProjectData } from './project-data.ts'

/** Maximum number of other projects in the comparison: a plot has at most three lines. */
const OTHERS_MAX = 2
/** Maximum number of projects to choose from, most downloaded first. */
const CHOICES_MAX = 24

export type Sibling = { project: CachedProject; view: ProjectView }
export type Other = Sibling & { series: DownloadSeries }

/** Returns the other public projects of the owner that show their statistics. */
export async function loadSiblings({ deps }: PageRequest, { project }: ProjectData): Promise<Sibling[]> {
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
export async function loadOthers(
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
export function compareSection(
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
