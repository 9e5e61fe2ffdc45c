// Rows of projects in lists, from the search index or from the database.

import type { Static } from 'typebox'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { SearchResult } from '#features/reading/search/views.ts'
import { type JsonOf, viewOf } from '#lib/text/json-bytes.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { organizationPath, PATHS, projectPath, userPath, withQuery } from '#web/kit/paths.ts'
import { countOf, dayAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { spark } from '#web/ui/plots/spark.ts'
import { hueClass, runsOn, tagIcon, tagName, versionRange } from '../names.ts'

export type ProjectRow = {
  id: string
  path: string
  name: string
  summary: string
  iconUrl: string | null
  /** Gallery image for the grid. */
  imageUrl?: string
  color: number | null
  downloads: number
  followers: number
  updated: string
  categories: readonly string[]
  gameVersions: readonly string[]
  types: readonly string[]
  sides?: readonly [client: string | undefined, server: string | undefined]
  by?: { name: string; path: string }
  /** Channel of the versions, if none of them is a release. */
  channel?: 'alpha' | 'beta'
  /** When the project was published, if known. */
  published?: string
  /** Downloads of the last weeks, oldest first, if the project shows them. */
  weeks?: readonly number[]
}

export type Hit = Static<typeof SearchResult>['hits'][number]

export function rowOfHit(hit: Hit): ProjectRow {
  return {
    id: hit.project_id,
    path: projectPath({ slug: hit.slug ?? hit.project_id, project_types: hit.project_types }),
    name: hit.name,
    summary: hit.summary,
    iconUrl: hit.icon_url,
    ...imageOf(hit),
    color: hit.color,
    downloads: hit.downloads,
    followers: hit.follows,
    updated: hit.date_modified,
    categories: hit.display_categories,
    gameVersions: fieldTexts(hit, 'game_versions'),
    types: hit.project_types,
    sides: [hit.client_side[0], hit.server_side[0]],
    published: hit.date_created,
    by:
      hit.organization !== null && hit.organization_id !== null
        ? { name: hit.organization, path: organizationPath(hit.organization_id) }
        : { name: hit.author, path: userPath(hit.author) },
  }
}

function imageOf({ featured_gallery, gallery }: Hit): Pick<ProjectRow, 'imageUrl'> {
  const imageUrl = featured_gallery ?? gallery[0]
  return imageUrl === undefined ? {} : { imageUrl }
}

export function rowOfProject(project: JsonOf<ProjectView>): ProjectRow {
  const view = viewOf(project)
  const image = view.gallery.find(({ featured }) => featured) ?? view.gallery[0]
  return {
    id: view.id,
    path: projectPath(view),
    name: view.name,
    summary: view.summary,
    iconUrl: view.icon_url,
    ...(image === undefined ? {} : { imageUrl: image.url }),
    color: view.color,
    downloads: view.downloads,
    followers: view.followers,
    updated: view.updated,
    categories: view.categories,
    gameVersions: fieldTexts(view, 'game_versions'),
    types: view.project_types,
  }
}

/** Returns the values of a loader field, which the view contains next to its fixed properties. */
export function fieldTexts(view: object, name: string): string[] {
  const value = (view as Record<string, unknown>)[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Shows the icon of a project, or a default icon. `rawUrl` is the original image, for screens with a high resolution. */
export function tile(
  page: PageContext,
  of: { iconUrl: string | null; rawUrl?: string | null },
  size: number,
  isFirst = true,
): Markup {
  if (of.iconUrl === null) return html`<span class="tile">${icon(page, 'package')}</span>`
  const { iconUrl, rawUrl = null } = of
  const srcset = rawUrl === null || rawUrl === iconUrl ? null : `${iconUrl} 1x, ${rawUrl} 2x`
  const more = attributes({ srcset, loading: !isFirst && 'lazy' })
  return html`<span class="tile"><img src="${of.iconUrl}" alt="" width="${size}" height="${size}"${more}></span>`
}

/** Sparklines by their numbers, which stay the same object while they are cached. */
const sparklines = new WeakMap<readonly number[], Part>()

function sparkOf({ weeks }: ProjectRow): Part {
  if (weeks === undefined) return null
  const sparkline = sparklines.get(weeks) ?? spark(weeks)
  sparklines.set(weeks, sparkline)
  return sparkline
}

/** Age in days up to which a project has the badge "new". */
const NEW_DAYS = 14

function newBadge({ language, now }: PageContext, { published }: ProjectRow): Part {
  if (published === undefined || now - Date.parse(published) > NEW_DAYS * DAY_MS) return null
  return html` ${badge('good', language.t('site.new'))}`
}

function channelBadge({ language }: PageContext, { channel }: ProjectRow): Part {
  return (
    channel !== undefined && html` ${badge(channel === 'alpha' ? 'bad' : 'warn', language.t(`site.only.${channel}`))}`
  )
}

type Drawing = { page: PageContext; taxonomy: Taxonomy }

/** Number of categories in a row. */
const SHOWN_CATEGORIES = 3

export function hitRow(
  { page, taxonomy }: Drawing,
  row: ProjectRow,
  index: number,
  heading: 'h2' | 'h3' = 'h2',
): Markup {
  const { language } = page
  const range = versionRange(taxonomy, row.gameVersions)
  const runs = row.sides === undefined ? undefined : runsOn(language, ...row.sides)
  const by =
    row.by !== undefined &&
    html` <span class="by">${language.rich('site.by', { name: html`<a href="${pathTo(page, row.by.path)}"><bdi>${row.by.name}</bdi></a>` })}</span>`
  const name = html`<a href="${pathTo(page, row.path)}"><bdi>${row.name}</bdi></a>${channelBadge(page, row)}${newBadge(page, row)}${by}`
  const categories = row.categories.slice(0, SHOWN_CATEGORIES).map(
    (category) => html`
<li>${icon(page, tagIcon(category))}<a href="${pathTo(page, withQuery(PATHS.search, { c: category }))}">${tagName(page.language, category)}</a></li>`,
  )
  const meta = [
    range !== undefined && html`<li class="fits">${icon(page, 'check')}${range}</li>`,
    runs !== undefined && html`<li class="env">${icon(page, 'monitor')}${runs}</li>`,
    categories,
  ]
  const hasMeta = range !== undefined || runs !== undefined || categories.length > 0
  return html`<li><article${attributes({ class: ['hit', hueClass(row.color)].filter(Boolean).join(' ') })}>
${tile(page, row, 49, index < 5)}
<div>
${heading === 'h2' ? html`<h2>${name}</h2>` : html`<h3>${name}</h3>`}
<p class="what" dir="auto">${row.summary}</p>
${hasMeta && html`<ul class="meta">${meta}</ul>`}
</div>
<dl class="nums">
<div class="top"><dt>${language.t('site.downloads', { count: row.downloads })}</dt><dd>${countOf(language, row.downloads)}</dd></div>
${
  row.weeks !== undefined &&
  html`<div><dt class="vh">${language.t('site.weeks')}</dt><dd>${sparkOf(row)}</dd></div>
`
}<div><dt>${language.t('site.followers', { count: row.followers })}</dt><dd>${countOf(language, row.followers)}</dd></div>
<div><dt class="vh">${language.t('site.updated')}</dt><dd class="when">${dayAgo(language, new Date(row.updated), page.now)}</dd></div>
</dl>
</article></li>
`
}

export function hitList(drawing: Drawing, rows: readonly ProjectRow[], heading?: 'h2' | 'h3'): Markup {
  return html`<ol class="hits">
${rows.map((row, index) => hitRow(drawing, row, index, heading))}</ol>`
}

/** Shows projects as a grid of gallery images with icons, or only of icons if a project has no image. */
export function hitGrid({ page, taxonomy }: Drawing, rows: readonly ProjectRow[], heading: 'h2' | 'h3' = 'h2'): Markup {
  const { language } = page
  const cards = rows.map((row, index) => {
    const range = versionRange(taxonomy, row.gameVersions)
    const lazy = attributes({ loading: index > 5 && 'lazy' })
    const picture = html`${row.imageUrl !== undefined && html`<img src="${row.imageUrl}" alt="" width="350" height="197"${lazy}>`}${tile(page, row, 81, index < 6)}`
    const name = html`<a href="${pathTo(page, row.path)}"><bdi>${row.name}</bdi></a>${channelBadge(page, row)}`
    const by =
      row.by !== undefined &&
      html`<p class="by">${language.rich('site.by', { name: html`<a href="${pathTo(page, row.by.path)}"><bdi>${row.by.name}</bdi></a>` })}</p>`
    return html`<li><article${attributes({ class: ['card', hueClass(row.color)].filter(Boolean).join(' ') })}>
<div class="picture">${picture}</div>
${heading === 'h2' ? html`<h2>${name}</h2>` : html`<h3>${name}</h3>`}
${by}
<p class="what" dir="auto">${row.summary}</p>
<p class="soft small">${countOf(language, row.downloads)} ${language.t('site.downloads', { count: row.downloads })}${range !== undefined && ` · ${range}`}</p>
</article></li>
`
  })
  return html`<ol class="cards">
${cards}</ol>`
}
