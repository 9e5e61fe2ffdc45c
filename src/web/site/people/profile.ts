// The frame of the pages of users, organizations and collections.
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { emptyState, face, pager } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { feedLinks } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { hitList, type ProjectRow } from '../lists/rows.ts'
import { hueClass } from '../names.ts'

/** One page of projects, and the totals of all pages. */
export type ProjectSlice = { rows: ProjectRow[]; total: number; downloads: number; current: number; last: number }

type Profile = {
  path: string
  name: string
  kind: 'profile' | 'website'
  about: string
  color?: number | null
  head: Markup
  before?: Part
  projects: ProjectSlice
  aside: Part
  structured: object
  isUnlisted?: boolean
  /** Path of the form that reports the profile. */
  report?: string
  /** Link to the page where the viewer can edit the subject. */
  edit?: { path: string; label: string } | undefined
}

/** Renders a profile with its projects. */
export function profilePage(request: PageRequest, of: Profile): ShownPage {
  const { page, deps } = request
  const { language } = page
  const { rows, current, last } = of.projects
  const list =
    rows.length > 0
      ? hitList({ page, taxonomy: deps.taxonomy }, rows)
      : emptyState(page, {
          icon: 'package',
          title: language.t(current > last ? 'site.list.no-page' : 'site.no-projects'),
        })
  const hasAside = of.aside !== null && String(html`${of.aside}`).trim() !== ''
  return {
    status: current > last ? 404 : 200,
    title: of.name,
    ...(of.about === '' ? {} : { description: of.about.slice(0, 300) }),
    canonical: of.path,
    isUnlisted: of.isUnlisted === true || current > last,
    className: ['page', hueClass(of.color)].filter(Boolean).join(' '),
    openGraph: { type: of.kind },
    structuredData: [of.structured],
    feeds: feedLinks(of.path, language.t('site.feed.list')),
    body: html`${of.before}
<div class="profile">${of.head}<div class="acts">${of.edit !== undefined && html`<a class="button" href="${pathTo(page, of.edit.path)}">${icon(page, 'cog')}${of.edit.label}</a>`}<a class="button" href="${pathTo(page, `${of.path}.atom`)}" title="${language.t('site.feed.list')}">${icon(page, 'rss')}<span class="vh">${language.t('site.feed.list')}</span></a>${of.report !== undefined && html`<a class="button" href="${pathTo(page, of.report)}" title="${language.t('site.report.title', { name: of.name })}">${icon(page, 'flag')}<span class="vh">${language.t('site.report.title', { name: of.name })}</span></a>`}</div></div>
<div class="sheet${hasAside && ' split'}">
<div class="list">
${list}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, `${of.path}${number === 1 ? '' : `?page=${number}`}`) })}
</div>
${hasAside && html`<aside aria-label="${language.t('site.about', { name: of.name })}">${of.aside}</aside>`}
</div>`,
  }
}

/** Shows links with their icons, or nothing if there are none. */
export function linkPanel(
  page: PageContext,
  title: string,
  links: readonly { name: string; url: string | null; path: string }[],
): Part {
  if (links.length === 0) return null
  const items = links.map(
    ({
      name,
      url,
      path,
    }) => html`<li>${face({ name, url, isSquare: true })}<span><a href="${pathTo(page, path)}"><bdi>${name}</bdi></a></span></li>
`,
  )
  return html`<section class="panel"><h2>${title}</h2><ul class="people">${items}</ul></section>`
}
