// The sections of a project's first page: gallery images, compatibility, links, people, details.

import { viewOf } from '#lib/text/json-bytes.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Setup } from '#web/kit/cookies.ts'
import { listPath, organizationPath, PROJECT_TYPES, projectPath, userPath, withQuery } from '#web/kit/paths.ts'
import { dayText } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { face } from '#web/ui/parts/lists.ts'
import { tile } from '../lists/rows.ts'
import { environmentText, releasesIn, roleName, serviceName, tagName, termName, typeName } from '../names.ts'
import { galleryImage, galleryOrder } from './gallery-image.ts'
import { imagePath } from './gallery-page.ts'
import type { Member, Organization, ProjectData, ProjectPageData } from './project-data.ts'
import { passedScan } from './scan-verdict.ts'

/** Number of images above the description. */
const IMAGES_SHOWN = 3
const defaultSize = { width: 960, height: 540 }
const LARGE = { sizes: '(min-width: 60rem) 34rem, 100vw', defaultSize }
const SMALL = { sizes: '(min-width: 60rem) 17rem, 50vw', defaultSize }

/** Shows the first gallery images, with a link to the others. */
export function galleryPreview(page: PageContext, { view, path }: ProjectData): Part {
  const { language } = page
  const inOrder = galleryOrder(view)
  const images = inOrder.toSorted((a, b) => Number(b.featured) - Number(a.featured))
  if (images.length === 0) return null
  const rest = images.length - IMAGES_SHOWN
  const items = images.slice(0, IMAGES_SHOWN).map((image, index) => {
    const more = attributes({ fetchpriority: index === 0 && 'high', loading: index > 0 && 'lazy' })
    const alt = image.name ?? image.description ?? language.t('site.picture', { number: index + 1, name: view.name })
    const isLast = index === IMAGES_SHOWN - 1 && rest > 0
    return html`<li><a href="${pathTo(page, isLast ? `${path}/gallery` : imagePath(path, inOrder.indexOf(image) + 1))}"><img${galleryImage(image, index === 0 ? LARGE : SMALL)} alt="${alt}"${more}>${isLast && html`<span class="all">${language.t('site.more-pictures', { count: rest })}</span>`}</a></li>
`
  })
  return html`<ul class="shots${images.length < IMAGES_SHOWN && ' few'}">
${items}</ul>`
}

/** Game versions that are named below the table of compatibility. */
const NAMED_MAX = 8
const COLUMNS_MAX = 5
const ROWS_MAX = 8

/** Shows which loaders and game versions the project supports, with a link to the newest version for both. */
export function compatibility(
  page: PageContext,
  { project, view, path, traits: all }: ProjectPageData,
  { setup, taxonomy }: { setup: Setup; taxonomy: Taxonomy },
): Part {
  const { language } = page
  const newest = new Map<string, Map<string, string>>()
  const traits = all.filter(({ is_withdrawn }) => !is_withdrawn)
  for (const { id, loaders, pack_loaders, game_versions } of traits) {
    // Players of a pack need its loader, not the loader that names the format of the file.
    for (const loader of pack_loaders.length > 0 ? pack_loaders : loaders) {
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
  const others = releases.filter((version) => !columns.includes(version))
  const named = [...others.slice(0, NAMED_MAX), ...(others.length > NAMED_MAX ? ['…'] : [])].join(', ')
  const also = others.length > 0 && html`<p class="small soft">${language.t('site.fits.also', { versions: named })}</p>`
  const runs = environmentText(language, view.project_types, project.environment)
  const sentence = runs !== undefined && html`<p class="small soft">${runs}</p>`
  if (rows.length === 0 || columns.length === 0)
    return sentence === false
      ? null
      : html`<section class="panel"><h2>${language.t('site.fits')}</h2>${sentence}</section>`
  const cell = (loader: string, cells: ReadonlyMap<string, string>, version: string) => {
    const id = cells.get(version)
    if (id === undefined) return html`<td><span class="vh">${language.t('site.fits.no')}</span></td>`
    const isOwn = version === setup.gameVersion && loader === setup.loader
    return html`<td class="yes${isOwn && ' you'}"><a href="${pathTo(page, `${path}/version/${id}`)}">${icon(page, 'check')}<span class="vh">${language.t('site.fits.newest', { loader: tagName(language, loader), version })}</span></a></td>`
  }
  const body = rows.map(
    ([loader, cells]) =>
      html`<tr><th scope="row">${tagName(language, loader)}</th>${columns.map((version) => cell(loader, cells, version))}</tr>
`,
  )
  return html`<section class="panel"><h2>${language.t('site.fits')}</h2><div class="scroll"><table class="matrix"><thead><tr><td></td>${columns.map((version) => html`<th scope="col">${version}</th>`)}</tr></thead><tbody>
${body}</tbody></table></div>${also}${sentence}</section>`
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
    const service = serviceName(platform)
    const label =
      service !== undefined && donation
        ? language.t('site.link.donate', { name: service })
        : (service ??
          (isKnown
            ? language.t(`site.link.${platform as 'source'}`)
            : donation
              ? language.t('project.link.donate')
              : termName(platform)))
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
      html`<li>${face({ name: user.username, url: user.avatar_url })}<span><a href="${pathTo(page, userPath(user.username))}"><bdi>${user.username}</bdi></a><span class="soft" dir="auto">${roleName(language, role)}</span></span></li>
`,
  )
  return html`<section class="panel"><h2>${language.t('site.people')}</h2><ul class="people">${owner}${people}</ul></section>`
}

/** Returns the name of a licence, and a message if all rights are reserved. */
function licenceName({ language }: PageContext, { id, name }: ProjectData['view']['license']): string {
  if (/^(?:LicenseRef-All-Rights-Reserved|ARR)$/i.test(id)) return language.t('site.licence.all-rights')
  return name === '' || name === id ? id.replace(/^LicenseRef-/, '').replaceAll('-', ' ') : name
}

export function detailsPanel(page: PageContext, { view, offer }: ProjectData): Markup {
  const { language } = page
  const licence = licenceName(page, view.license)
  const href = view.license.url ?? licencePage(view.license.id)
  const shown = href === undefined ? licence : html`<a href="${href}" rel="nofollow ugc noopener">${licence}</a>`
  const kind = licenceKind(view.license.id)
  const summary = kind !== undefined && html`<p class="small soft">${language.t(`project.licence.${kind}`)}</p>`
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  const tags = [...view.categories, ...view.additional_categories].map(
    (category) =>
      html`<li><a href="${pathTo(page, withQuery(listPath(type), { c: category }))}">${tagName(page.language, category)}</a></li>`,
  )
  return html`<section class="panel"><h2>${language.t('site.details')}</h2><dl class="pairs"><dt>${language.t('site.licence')}</dt><dd>${shown}${summary}</dd>${tags.length > 0 && html`<dt>${language.t('site.facet.c')}</dt><dd><ul class="tags">${tags}</ul></dd>`}${offer !== undefined && passedScan(page, offer)}<dt>${language.t('site.published')}</dt><dd><time datetime="${view.published}">${dayText(language, new Date(view.published))}</time></dd><dt>${language.t('site.project-id')}</dt><dd><bdi>${view.id}</bdi></dd></dl></section>`
}

/** Shows projects with the same dependencies or followers. */
export function relatedPanel(page: PageContext, { related }: ProjectPageData): Part {
  const { language } = page
  if (related.length === 0) return null
  const items = related.map((project) => {
    const view = viewOf(project)
    const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
    return html`<li>${tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 36, false)}<span><a href="${pathTo(page, projectPath(view))}"><bdi>${view.name}</bdi></a>${type !== undefined && html`<span class="soft">${typeName(language, type)}</span>`}</span></li>
`
  })
  return html`<section class="panel"><h2>${language.t('project.related')}</h2><ul class="people">
${items}</ul></section>`
}

type LicenceKind = 'permissive' | 'files' | 'copyleft' | 'free' | 'reserved'

/** SPDX identifiers of licences that projects use most, without their version. */
const KINDS: readonly (readonly [LicenceKind, RegExp])[] = [
  ['permissive', /^(?:MIT|MIT-0|0BSD|ISC|Zlib|BSL|NCSA|Apache|BSD-[1-4]-Clause|CC-BY|Artistic|AFL|UPL|PostgreSQL)$/],
  ['files', /^(?:LGPL|MPL|EPL|CDDL|EUPL|OSL)$/],
  ['copyleft', /^(?:GPL|AGPL|CC-BY-SA)$/],
  ['free', /^(?:CC0|Unlicense|WTFPL)$/],
  ['reserved', /^LicenseRef-All-Rights-Reserved$/],
]

/** Returns the kind of a single licence; undefined for expressions and less common licences. */
function licenceKind(id: string): LicenceKind | undefined {
  const name = id.replace(/-v?\d+(?:\.\d+)*(?:-only|-or-later)?\+?$/, '')
  return KINDS.find(([, pattern]) => pattern.test(name))?.[0]
}

/** Returns the page of a single SPDX licence; undefined for expressions and licences that are not in the list. */
function licencePage(id: string): string | undefined {
  return /^(?!LicenseRef-)[\w.-]+$/.test(id) ? `https://spdx.org/licenses/${id}.html` : undefined
}
