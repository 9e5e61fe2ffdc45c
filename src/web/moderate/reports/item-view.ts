// The reported item as it is now: image, text, figures and owner.
import { organizationPath, projectPath, userPath } from '#web/kit/paths.ts'
import { dayAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge, face } from '#web/ui/parts/lists.ts'
import { moderatedUser } from '../frame.ts'
import { itemLink, itemStatus, pairs, timeOf } from '../parts.ts'
import { rowTile } from '../queue/queue-table.ts'
import { ownerLanguage } from '../replies.ts'
import { section } from '../review/section.ts'
import type { ReportData } from './load-report.ts'
import { reporters } from './report-list.ts'

export function itemPart(page: PageContext, data: ReportData): Markup {
  const { t } = page.language
  const { group, project, user } = data
  const content = html`<div class="row">${user !== undefined ? face({ name: user.username, url: user.avatar_url, isLarge: true }) : rowTile(page, project?.icon_url ?? null)}<div>
<p class="strong">${itemLink(page, group)} ${itemStatus(page, group)}</p>
${text(data)}</div></div>
${gallery(page, data)}
${pairs([
  [t('reports.item-type'), t(`reports.item-type.${group.item_type}`)],
  [t('site.column.downloads'), project && wholeNumber(page.language, project.downloads)],
  [t('moderate.owner'), owner(page, data)],
  [t('reports.first'), timeOf(page, group.open_since ?? group.first)],
  [t('reports.latest'), timeOf(page, group.latest)],
  [t('reports.reporters'), reporters(page, group)],
])}`
  return section({ id: 'item', title: t('reports.item'), content })
}

/** Renders a link to the item as visitors see it. */
export function itemTool(page: PageContext, { project, user }: ReportData): Part {
  const path = project !== undefined ? projectPath(project) : user && userPath(user.username)
  if (path === undefined) return undefined
  return html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'external')}${page.language.t('reports.view')}</a>`
}

function text({ project, user }: ReportData): Part {
  const said = project?.summary ?? user?.bio
  return said && html`<p dir="auto">${said}</p>`
}

/** Renders the featured image of the gallery, otherwise the first one. */
function gallery(page: PageContext, { project }: ReportData): Part {
  const image = project?.gallery.find(({ featured }) => featured) ?? project?.gallery[0]
  if (project === undefined || image === undefined) return null
  const alt = image.name ?? page.language.t('site.picture', { number: 1, name: project.name })
  return html`<ul class="thumbs"><li><a href="${image.raw_url}"><img src="${image.url}" alt="${alt}" width="350" height="197"></a></li></ul>`
}

function owner(page: PageContext, { owner: of, record }: ReportData): Part {
  if (of === undefined) return page.language.t('moderate.no-owner')
  const { t, rich } = page.language
  const path = of.kind === 'user' ? moderatedUser(of.id) : organizationPath(of.id)
  const link = html`<a href="${pathTo(page, path)}"><bdi>${of.name}</bdi></a>`
  if (record === undefined) return link
  const { approved, rejected, reports, downloads, created, suspended, language } = record
  const facts = rich('moderate.owner.facts', { since: dayAgo(page.language, new Date(created), page.now), downloads })
  return html`${link}${suspended && html` ${badge('bad', t('moderate.owner.suspended'))}`}<br><small class="soft">${t('moderate.record', { approved, rejected, reports })}<br>${facts}</small> ${ownerLanguage(page, language)}`
}
