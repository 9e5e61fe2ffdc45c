// The frame of the pages of users, organizations and collections: totals, projects, and details next to them.
import { isSet } from '#web/kit/cookies.ts'
import { feedLinks, type ProjectType } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { countOf, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState, face, pager, segments, tabs } from '#web/ui/parts/lists.ts'
import { hitList } from '../lists/rows.ts'
import { embedPath } from '../machines/embed.ts'
import { hueClass, setupName, TYPE_ICONS, typesName } from '../names.ts'
import { setupForm } from '../setup-form.ts'
import { type ProjectSlice, type SliceFilter, SORTS, slicePath } from './project-slice.ts'

/** Shows the totals of all projects, whatever the list is limited to. */
export function facts({ page }: PageRequest, { total, downloads, followers }: ProjectSlice, joined?: string): Markup {
  const { language } = page
  const count = (name: IconName, text: Part) => html`<li>${icon(page, name)} ${text}</li>`
  return html`<ul class="facts-line">${count('box', language.t('site.count.project', { count: total }))}${count('download', html`${countOf(language, downloads)} ${language.t('site.downloads', { count: downloads })}`)}${count('heart', html`${countOf(language, followers)} ${language.t('site.followers', { count: followers })}`)}${joined !== undefined && count('calendar', language.rich('site.joined', { at: timeAgo(language, new Date(joined), page.now) }))}</ul>`
}

export type Profile = {
  path: string
  name: string
  kind: 'profile' | 'website'
  /** See `ShownPage`. */
  insiders: ReadonlySet<string>
  about: string
  color?: number | null
  head: Markup
  before?: Part
  projects: ProjectSlice
  aside: Part
  structured: object
  /** More buttons next to that for the feed. */
  actions?: Part
  isUnlisted?: boolean
  /** Path of the form that reports the profile. */
  report?: string
  /** Link to the page where the viewer can edit the subject. */
  edit?: { path: string; label: string } | undefined
}

/** Renders a profile with its projects. */
export function profilePage(request: PageRequest, of: Profile): ShownPage {
  const { page, deps, language } = request
  const { rows, current, last, filter } = of.projects
  const hasAside = of.projects.total > 0 || (of.aside !== null && String(html`${of.aside}`).trim() !== '')
  const isNarrowed = filter.type !== undefined || filter.ignoresSetup || filter.sort === 'downloads'
  // The page names the owner of each project only if it is not the subject.
  const shown = rows.map(({ by, ...row }) => ({ ...row, ...(by === undefined || by.path === of.path ? {} : { by }) }))
  const list = rows.length > 0 ? hitList({ page, taxonomy: deps.taxonomy }, shown) : emptyList(page, of)
  return {
    status: current > last ? 404 : 200,
    title: of.name,
    insiders: of.insiders,
    ...(of.about === '' ? {} : { description: of.about.slice(0, 300) }),
    canonical: of.path,
    isUnlisted: of.isUnlisted === true || current > last || isNarrowed,
    className: ['page', hueClass(of.color)].filter(Boolean).join(' '),
    openGraph: { type: of.kind },
    ...(of.isUnlisted === true ? {} : { embed: embedPath(page, of.path) }),
    structuredData: [of.structured],
    feeds: [
      ...feedLinks(of.path, language.t('site.feed.list')),
      ...feedLinks(`${of.path}/releases`, language.t('site.feed.releases')),
    ],
    body: html`${of.before}
<div class="profile">${of.head}<div class="acts">${of.actions}${of.edit !== undefined && html`<a class="button" href="${pathTo(page, of.edit.path)}">${icon(page, 'cog')}${of.edit.label}</a>`}<a class="button" href="${pathTo(page, `${of.path}.atom`)}" title="${language.t('site.feed.list')}">${icon(page, 'rss')}<span class="vh">${language.t('site.feed.list')}</span></a>${of.report !== undefined && html`<a class="button" href="${pathTo(page, of.report)}" title="${language.t('site.report.title', { name: of.name })}">${icon(page, 'flag')}<span class="vh">${language.t('site.report.title', { name: of.name })}</span></a>`}</div></div>
${of.projects.types.size > 1 && typeTabs(page, of)}
<div class="sheet${hasAside && ' split'}">
<div class="list">
${head(page, of)}
${list}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, slicePath(of.path, filter, number)) })}
</div>
${hasAside && html`<aside aria-label="${language.t('site.about', { name: of.name })}">${of.projects.total > 0 && setupForm(request)}${of.aside}</aside>`}
</div>`,
  }
}

function typeTabs(page: PageContext, { path, projects }: Profile): Markup {
  const { language } = page
  const { filter, types, compatible } = projects
  const tab = (type: ProjectType | undefined, count: number) => ({
    href: pathTo(page, slicePath(path, { ...filter, type })),
    label: type === undefined ? language.t('site.types.all') : typesName(language, type),
    icon: type === undefined ? ('grid' as const) : TYPE_ICONS[type],
    count,
    isCurrent: type === filter.type,
  })
  return tabs(page, language.t('site.types'), [tab(undefined, compatible), ...[...types].map((entry) => tab(...entry))])
}

/** Shows how many projects are in the list, in which order, and the setup that limits it, with a link to all. */
function head(page: PageContext, { path, projects }: Profile): Part {
  const { language } = page
  const { filter, matching, total } = projects
  const isLimited = isSet(filter.setup)
  const isSorted = filter.sort !== undefined && total > 1
  if (!isLimited && !isSorted) return null
  const setup = language.t('site.for', { setup: setupName(language, filter.setup) })
  const title = filter.type === undefined ? 'site.count.project' : (`site.count.${filter.type}` as const)
  const sorts = SORTS.map((sort) => ({
    href: pathTo(page, slicePath(path, { ...filter, sort })),
    label: language.t(`site.sort.${sort}`),
    isCurrent: sort === filter.sort,
  }))
  return html`<div class="results-head"><h2>${language.t(title, { count: matching })}</h2>${isSorted && segments(language.t('site.sort'), sorts)}${isLimited && html`<p class="picked"><a href="${pathTo(page, slicePath(path, { ...filter, ignoresSetup: true }))}"><span class="vh">${language.t('site.remove')} </span>${setup} ${icon(page, 'x')}</a></p>`}</div>`
}

function emptyList(page: PageContext, { path, projects }: Profile): Markup {
  const { language } = page
  const { current, last, filter, total } = projects
  const all: SliceFilter = { ...filter, type: undefined, ignoresSetup: isSet(filter.setup) || filter.ignoresSetup }
  return emptyState(page, {
    icon: 'package',
    title: language.t(current > last ? 'site.list.no-page' : total > 0 ? 'site.list.nothing' : 'site.no-projects'),
    ...(total > 0
      ? {
          action: html`<p><a class="button" href="${pathTo(page, slicePath(path, all))}">${language.t('site.profile.all', { count: total })}</a></p>`,
        }
      : {}),
  })
}

type Linked = { name: string; url: string | null; path: string; about: Part; isRound?: boolean }

/** Renders links with their icons. */
export function linkPanel(page: PageContext, title: string, links: readonly Linked[]): Part {
  if (links.length === 0) return null
  const items = links.map(
    ({ name, url, path, about, isRound = false }) =>
      html`<li>${face({ name, url, isSquare: !isRound })}<span><a href="${pathTo(page, path)}"><bdi>${name}</bdi></a>${about !== null && html`<span class="soft">${about}</span>`}</span></li>
`,
  )
  return html`<section class="panel"><h2>${title}</h2><ul class="people">${items}</ul></section>`
}

/** Renders facts with their labels. */
export function detailsPanel({ language }: PageContext, rows: readonly (readonly [string, Part] | false)[]): Markup {
  const shown = rows.map((row) => row !== false && html`<dt>${row[0]}</dt><dd>${row[1]}</dd>`)
  return html`<section class="panel"><h2>${language.t('site.details')}</h2><dl class="pairs">${shown}</dl></section>`
}
