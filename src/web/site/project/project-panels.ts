// The sections of a project's first page: gallery images, compatibility, links, people, details.
import { dayText } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import { face } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import type { Setup } from '#web/kit/cookies.ts'
import { organizationPath, PATHS, userPath, withQuery } from '#web/kit/paths.ts'
import { releasesIn, runsOn, tagName } from '../names.ts'
import { galleryImage } from './gallery-image.ts'
import type { Member, Organization, ProjectData, ProjectPageData } from './project-data.ts'

/** Number of images above the description. */
const IMAGES_SHOWN = 3
const defaultSize = { width: 960, height: 540 }
const LARGE = { sizes: '(min-width: 60rem) 34rem, 100vw', defaultSize }
const SMALL = { sizes: '(min-width: 60rem) 17rem, 50vw', defaultSize }

/** Shows the first gallery images, with a link to the others. */
export function galleryPreview(page: PageContext, { view, path }: ProjectData): Part {
  const { language } = page
  const images = view.gallery.toSorted((a, b) => Number(b.featured) - Number(a.featured) || a.ordering - b.ordering)
  if (images.length === 0) return null
  const rest = images.length - IMAGES_SHOWN
  const items = images.slice(0, IMAGES_SHOWN).map((image, index) => {
    const more = attributes({ fetchpriority: index === 0 && 'high', loading: index > 0 && 'lazy' })
    const alt = image.name ?? image.description ?? language.t('site.picture', { number: index + 1, name: view.name })
    const isLast = index === IMAGES_SHOWN - 1 && rest > 0
    return html`<li><a href="${pathTo(page, `${path}/gallery`)}"><img${galleryImage(image, index === 0 ? LARGE : SMALL)} alt="${alt}"${more}>${isLast && html`<span class="all">${language.t('site.more-pictures', { count: rest })}</span>`}</a></li>
`
  })
  return html`<ul class="shots${images.length < IMAGES_SHOWN && ' few'}">
${items}</ul>`
}

const COLUMNS_MAX = 5
const ROWS_MAX = 8

/** Shows which loaders and game versions the project supports, with a link to the newest version for both. */
export function compatibility(
  page: PageContext,
  { project, view, path, traits }: ProjectPageData,
  { setup, taxonomy }: { setup: Setup; taxonomy: Taxonomy },
): Part {
  const { language } = page
  const newest = new Map<string, Map<string, string>>()
  for (const { id, loaders, game_versions } of traits) {
    for (const loader of loaders) {
      const cells = newest.get(loader) ?? new Map<string, string>()
      newest.set(loader, cells)
      for (const version of game_versions) if (!cells.has(version)) cells.set(version, id)
    }
  }
  const rows = [...newest].sort(([, a], [, b]) => b.size - a.size).slice(0, ROWS_MAX)
  const releases = releasesIn(
    taxonomy,
    traits.flatMap(({ game_versions }) => game_versions),
  )
  const recent = releases.slice(0, COLUMNS_MAX)
  if (releases.includes(setup.gameVersion) && !recent.includes(setup.gameVersion))
    recent.splice(COLUMNS_MAX - 1, 1, setup.gameVersion)
  const columns = recent.toReversed()
  const { client_side, server_side } = sidesOf(view.project_types, project.environment)
  const runs = runsOn(language, client_side, server_side)
  if (rows.length === 0 || columns.length === 0) return null
  const cell = (loader: string, cells: ReadonlyMap<string, string>, version: string) => {
    const id = cells.get(version)
    if (id === undefined) return html`<td><span class="vh">${language.t('site.fits.no')}</span></td>`
    const isOwn = version === setup.gameVersion && loader === setup.loader
    return html`<td class="yes${isOwn && ' you'}"><a href="${pathTo(page, `${path}/version/${id}`)}">${icon(page, 'check')}<span class="vh">${language.t('site.fits.newest', { loader: tagName(loader), version })}</span></a></td>`
  }
  const body = rows.map(
    ([loader, cells]) =>
      html`<tr><th scope="row">${tagName(loader)}</th>${columns.map((version) => cell(loader, cells, version))}</tr>
`,
  )
  return html`<section class="panel"><h2>${language.t('site.fits')}</h2><div class="scroll"><table class="matrix"><thead><tr><td></td>${columns.map((version) => html`<th scope="col">${version}</th>`)}</tr></thead><tbody>
${body}</tbody></table></div>${runs !== undefined && html`<p class="small soft">${runs}</p>`}</section>`
}

const LINK_ICONS: Readonly<Record<string, IconName>> = {
  source: 'git',
  issues: 'bug',
  wiki: 'book',
  discord: 'chat',
  site: 'globe',
  store: 'package',
}

export function linksPanel(page: PageContext, { view }: ProjectData): Part {
  const { language } = page
  const all = Object.values(view.link_urls)
  if (all.length === 0) return null
  const items = all.map(({ platform, donation, url }) => {
    const isKnown = Object.hasOwn(LINK_ICONS, platform)
    const label = isKnown
      ? language.t(`site.link.${platform as 'source'}`)
      : donation
        ? language.t('site.link.donate', { name: tagName(platform) })
        : tagName(platform)
    return html`<li><a href="${url}" rel="nofollow ugc noopener">${icon(page, isKnown ? (LINK_ICONS[platform] ?? 'link') : 'gift')}${label}</a></li>`
  })
  return html`<section class="panel"><h2>${language.t('site.links')}</h2><ul class="links">${items}</ul></section>`
}

export function peoplePanel(
  page: PageContext,
  { organization, members }: { organization: Organization | undefined; members: Member[] },
): Part {
  const { language } = page
  if (organization === undefined && members.length === 0) return null
  const owner =
    organization !== undefined &&
    html`<li>${face({ name: organization.name, url: organization.icon_url, isSquare: true })}<span><a href="${pathTo(page, organizationPath(organization.slug))}"><bdi>${organization.name}</bdi></a><span class="soft">${language.t('site.organization')}</span></span></li>
`
  const people = members.map(
    ({ user, role }) =>
      html`<li>${face({ name: user.username, url: user.avatar_url })}<span><a href="${pathTo(page, userPath(user.username))}"><bdi>${user.username}</bdi></a><span class="soft" dir="auto">${role}</span></span></li>
`,
  )
  return html`<section class="panel"><h2>${language.t('site.people')}</h2><ul class="people">${owner}${people}</ul></section>`
}

/** Returns the name of a licence, and a message if all rights are reserved. */
function licenceName({ language }: PageContext, { id, name }: ProjectData['view']['license']): string {
  if (/^(?:LicenseRef-All-Rights-Reserved|ARR)$/i.test(id)) return language.t('site.licence.all-rights')
  return name === '' || name === id ? id.replace(/^LicenseRef-/, '').replaceAll('-', ' ') : name
}

export function detailsPanel(page: PageContext, { view }: ProjectData): Markup {
  const { language } = page
  const licence = licenceName(page, view.license)
  const shown =
    view.license.url === null ? licence : html`<a href="${view.license.url}" rel="nofollow ugc noopener">${licence}</a>`
  const tags = [...view.categories, ...view.additional_categories].map(
    (category) =>
      html`<li><a href="${pathTo(page, withQuery(PATHS.search, { c: category }))}">${tagName(category)}</a></li>`,
  )
  return html`<section class="panel"><h2>${language.t('site.details')}</h2><dl class="pairs"><dt>${language.t('site.licence')}</dt><dd>${shown}</dd>${tags.length > 0 && html`<dt>${language.t('site.facet.c')}</dt><dd><ul class="tags">${tags}</ul></dd>`}<dt>${language.t('site.published')}</dt><dd><time datetime="${view.published}">${dayText(language, new Date(view.published))}</time></dd><dt>${language.t('site.project-id')}</dt><dd><code>${view.id}</code></dd></dl></section>`
}
