// The view of the home page.

import { imageUrl } from '#features/basics/images/hosted-image.ts'
import type { Statistics } from '#features/basics/statistics/queries.ts'
import type { NewCollection } from '#features/community/collections/queries.ts'
import type { Config } from '#platform/config/config.ts'
import { isSet } from '#web/kit/cookies.ts'
import { collectionPath, listPath, PATHS, type ProjectType, userPath, withQuery } from '#web/kit/paths.ts'
import type { Reader } from '#web/kit/personal-parts.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { face } from '#web/ui/parts/lists.ts'
import { hitGrid, hitList, type ProjectRow } from '../lists/rows.ts'
import { setupName, TYPE_ICONS, typesName } from '../names.ts'
import { setupForm } from '../setup-form.ts'
import { channelBadge } from '../version/version-parts.ts'
import { listFollowedReleases, type Release } from './releases.ts'

export type Home = {
  types: { type: ProjectType; count: number }[]
  figures: Statistics
  /** Texts of the operator; null for the defaults. */
  heading: string | null
  text: string | null
  trending: ProjectRow[]
  popular: ProjectRow[]
  newest: ProjectRow[]
  releases: Release[]
  collections: (NewCollection & { owner: string })[]
}

export function homeView(request: PageRequest, home: Home): Markup {
  const { page, setup, deps, language } = request
  const { figures, trending, popular, newest, releases, collections, heading: title, text } = home
  const sortedBy = (sort: string) => withQuery(PATHS.search, { sort })
  const newIn = isSet(setup)
    ? language.t('home.releases-for', { setup: setupName(language, setup) })
    : language.t('home.releases')
  return html`<div class="welcome">
<h1${attributes({ dir: title !== null && 'auto' })}>${title ?? language.t('home.heading', { name: page.site.name })}</h1>
<p${attributes({ class: 'soft', dir: text !== null && 'auto' })}>${text ?? language.t('home.figures', { projects: figures.projects, versions: figures.versions, authors: figures.authors })}</p>
${kinds(page, home.types)}
</div>
<div class="home-grid"><div class="home-lists">${request.personal(followedPart)}
${projectSection(request, { id: 'rising', title: language.t('home.rising'), rows: trending, isGrid: true })}
${projectSection(request, { id: 'downloads', title: language.t('home.downloads'), rows: popular, href: sortedBy('downloads') })}</div>
<div class="home-side"><div class="home-setup">${setupForm(request)}</div>
${releases.length > 0 && sideSection(page, { id: 'releases', title: newIn, href: sortedBy('updated'), items: releases.map((release) => releaseItem(page, release)) })}
${newest.length > 0 && sideSection(page, { id: 'newest', title: language.t('home.newest'), href: sortedBy('newest'), items: newest.map((row) => newItem(page, row)) })}</div></div>
${collections.length > 0 && collectionsSection(page, deps.config, collections)}`
}

function kinds(page: PageContext, types: Home['types']): Markup {
  const cards = types.map(
    ({ type, count }) =>
      html`<li><a href="${pathTo(page, listPath(type))}">${icon(page, TYPE_ICONS[type])}<span>${typesName(page.language, type)}</span><span class="n">${wholeNumber(page.language, count)}</span></a></li>
`,
  )
  return html`<ul class="kinds">
${cards}</ul>`
}

type Heading = { id: string; title: string; href?: string }

function heading(page: PageContext, { id, title, href }: Heading): Markup {
  return html`<div class="section-head"><h2 id="by-${id}">${title}</h2>${href !== undefined && html`<a href="${pathTo(page, href)}">${page.language.t('home.all')}<span class="vh">: ${title}</span></a>`}</div>`
}

function projectSection(
  { page, deps }: PageRequest,
  of: Heading & { rows: readonly ProjectRow[]; isGrid?: boolean },
): Part {
  if (of.rows.length === 0) return null
  return html`<section class="sheet" aria-labelledby="by-${of.id}">
${heading(page, of)}
${(of.isGrid === true ? hitGrid : hitList)({ page, taxonomy: deps.taxonomy }, of.rows, 'h3')}
</section>`
}

/** Shows the newest releases of the projects that a signed-in reader follows. */
async function followedPart(reader: Reader): Promise<Part> {
  const { page, viewer } = reader
  if (viewer === null) return null
  const releases = await listFollowedReleases(reader, viewer.id)
  const { language } = page
  const of = { id: 'followed', title: language.t('home.followed'), href: PATHS.follows }
  const list =
    releases.length === 0
      ? html`<p class="soft note-line">${language.t('home.followed.none')}</p>`
      : html`<ul class="people latest twofold">${releases.map((release) => releaseItem(page, release))}</ul>`
  return html`<section class="sheet" aria-labelledby="by-followed">
${heading(page, of)}
${list}
</section>`
}

function sideSection(page: PageContext, of: Heading & { items: readonly Markup[] }): Markup {
  return html`<section class="sheet" aria-labelledby="by-${of.id}">
${heading(page, of)}
<ul class="people latest">${of.items}</ul>
</section>`
}

function releaseItem(page: PageContext, release: Release): Markup {
  const { name, iconUrl, path, version_number, version_type, date_published } = release
  const channel = version_type !== 'release' && html` ${channelBadge(page, { version_type })}`
  return html`<li>${face({ name, url: iconUrl, isSquare: true })}<span><a href="${pathTo(page, path)}"><bdi>${name}</bdi> <bdi class="of">${version_number}</bdi></a>${channel}<span class="soft">${timeAgo(page.language, date_published, page.now)}</span></span></li>
`
}

function newItem(page: PageContext, { name, iconUrl, path, by, published, summary }: ProjectRow): Markup {
  const { language } = page
  const author = by !== undefined && language.rich('site.by', { name: html`<bdi>${by.name}</bdi>` })
  const since = published !== undefined && html` · ${timeAgo(language, new Date(published), page.now)}`
  return html`<li>${face({ name, url: iconUrl, isSquare: true })}<span><a href="${pathTo(page, path)}" title="${summary}"><bdi>${name}</bdi></a><span class="soft">${author}${since}</span></span></li>
`
}

function collectionsSection(page: PageContext, config: Config, collections: Home['collections']): Markup {
  const { language } = page
  const cards = collections.map(({ id, name, icon_url, owner, project_count, project_icons }) => {
    const icons = icon_url === null ? project_icons : [icon_url]
    const cover = icons.map(
      (key) => html`<img src="${imageUrl(config, key)}" alt="" width="40" height="40" loading="lazy">`,
    )
    const by = language.rich('site.by', {
      name: html`<a href="${pathTo(page, userPath(owner))}"><bdi>${owner}</bdi></a>`,
    })
    return html`<li><article class="collection"><span class="cover${icons.length > 1 && ' many'}">${icons.length === 0 ? icon(page, 'bookmark') : cover}</span><div><h3><a href="${pathTo(page, collectionPath(id))}"><bdi>${name}</bdi></a></h3><p class="soft small">${by}</p><p class="soft small">${language.t('site.count.project', { count: project_count })}</p></div></article></li>
`
  })
  return html`<section class="home-collections" aria-labelledby="by-collections"><h2 id="by-collections">${language.t('home.collections')}</h2>
<ul>${cards}</ul></section>`
}
