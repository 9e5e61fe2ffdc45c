// A project's first page: pictures, description, and what stands beside them.
import type { FastifyReply } from 'fastify'
import { listVersionTraits } from '#features/catalogue/versions/queries.ts'
import { dayText } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import { face } from '#platform/html/lists.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { organizationPath, PROJECT_TYPES, userPath, withQuery } from '#web/kit/site-paths.ts'
import { releasesIn, runsOn, tagName, typeName } from '../names.ts'
import { setupForm } from '../setup-view.ts'
import { gallerySource } from './gallery-image.ts'
import { loadPeople, loadProject, type Member, type Organization, type ProjectData } from './project-data.ts'
import { projectPage } from './project-frame.ts'
import { projectPlot } from './statistics.ts'

/** Loader → game version → the newest version that has both. */
type Matrix = { columns: string[]; rows: { loader: string; cells: ReadonlyMap<string, string> }[] }

export async function showProject(request: SiteRequest): Promise<FastifyReply> {
  const { page, show, texts } = request
  const data = await loadProject(request)
  const { view } = data
  const [description, people, matrix, plot] = [
    await texts.render(view.description, page),
    await loadPeople(request, data.project),
    await loadMatrix(request, data),
    await projectPlot(request, data),
  ]
  const body = html`<div class="body">
${shots(request, data)}
${String(description) === '' ? html`<p class="soft">${page.language.t('site.no-description')}</p>` : description}
${plot}
</div>
<aside aria-label="${page.language.t('site.about', { name: view.name })}">
${fits(request, data, matrix)}
${setupForm(request)}
${links(request, data)}
${peoplePanel(request, people)}
${details(request, data)}
</aside>`
  const type = PROJECT_TYPES.find((known) => view.project_types.includes(known))
  const title =
    type === undefined
      ? view.name
      : page.language.t('site.title.project', { name: view.name, type: typeName(page.language, type) })
  return show(projectPage(request, data, { tab: '', title, body, isSplit: true }))
}

const COLUMNS_MAX = 5
const ROWS_MAX = 8

async function loadMatrix({ deps, setup }: SiteRequest, { view }: ProjectData): Promise<Matrix> {
  const traits = await listVersionTraits(deps.db, view.id, {})
  const newest = new Map<string, Map<string, string>>()
  for (const { id, loaders, game_versions } of traits) {
    for (const loader of loaders) {
      const cells = newest.get(loader) ?? new Map<string, string>()
      newest.set(loader, cells)
      for (const version of game_versions) if (!cells.has(version)) cells.set(version, id)
    }
  }
  const all = releasesIn(
    deps.taxonomy,
    traits.flatMap(({ game_versions }) => game_versions),
  )
  const recent = all.slice(0, COLUMNS_MAX)
  if (all.includes(setup.gameVersion) && !recent.includes(setup.gameVersion))
    recent.splice(COLUMNS_MAX - 1, 1, setup.gameVersion)
  const rows = [...newest].sort(([, a], [, b]) => b.size - a.size).slice(0, ROWS_MAX)
  return { columns: recent.toReversed(), rows: rows.map(([loader, cells]) => ({ loader, cells })) }
}

/** Pictures above the text; the rest is in the gallery. */
const SHOTS = 3
const otherwise = { width: 960, height: 540 }
/** The first is the largest; the others stand beside it. */
const FIRST = { sizes: '(min-width: 60rem) 34rem, 100vw', otherwise }
const OTHERS = { sizes: '(min-width: 60rem) 17rem, 50vw', otherwise }

function shots({ page }: SiteRequest, { view, path }: ProjectData): Part {
  const { language } = page
  const pictures = view.gallery.toSorted((a, b) => Number(b.featured) - Number(a.featured) || a.ordering - b.ordering)
  if (pictures.length === 0) return null
  const rest = pictures.length - SHOTS
  const items = pictures.slice(0, SHOTS).map((picture, index) => {
    const more = attributes({ fetchpriority: index === 0 && 'high', loading: index > 0 && 'lazy' })
    const alt =
      picture.name ?? picture.description ?? language.t('site.picture', { number: index + 1, name: view.name })
    const isLast = index === SHOTS - 1 && rest > 0
    return html`<li><a href="${pathTo(page, `${path}/gallery`)}"><img${gallerySource(picture, index === 0 ? FIRST : OTHERS)} alt="${alt}"${more}>${isLast && html`<span class="all">${language.t('site.more-pictures', { count: rest })}</span>`}</a></li>
`
  })
  return html`<ul class="shots${pictures.length < SHOTS && ' few'}">
${items}</ul>`
}

function fits({ page, setup }: SiteRequest, { view, path }: ProjectData, { columns, rows }: Matrix): Part {
  const { language } = page
  const [client, server] = [first(view, 'client_side'), first(view, 'server_side')]
  const runs = runsOn(language, client, server)
  if (rows.length === 0 || columns.length === 0) return null
  const cell = (loader: string, cells: ReadonlyMap<string, string>, version: string) => {
    const id = cells.get(version)
    if (id === undefined) return html`<td><span class="vh">${language.t('site.fits.no')}</span></td>`
    const isOwn = version === setup.gameVersion && loader === setup.loader
    return html`<td class="yes${isOwn && ' you'}"><a href="${pathTo(page, `${path}/version/${id}`)}">${icon(page, 'check')}<span class="vh">${language.t('site.fits.newest', { loader: tagName(loader), version })}</span></a></td>`
  }
  const body = rows.map(
    ({ loader, cells }) =>
      html`<tr><th scope="row">${tagName(loader)}</th>${columns.map((version) => cell(loader, cells, version))}</tr>
`,
  )
  return html`<section class="panel"><h2>${language.t('site.fits')}</h2><div class="scroll"><table class="matrix"><thead><tr><td></td>${columns.map((version) => html`<th scope="col">${version}</th>`)}</tr></thead><tbody>
${body}</tbody></table></div>${runs !== undefined && html`<p class="small soft">${runs}</p>`}</section>`
}

function first(view: object, field: string): string | undefined {
  const value = (view as Record<string, unknown>)[field]
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined
}

const LINK_ICONS: Readonly<Record<string, IconName>> = {
  source: 'git',
  issues: 'bug',
  wiki: 'book',
  discord: 'chat',
  site: 'globe',
  store: 'package',
}

function links({ page }: SiteRequest, { view }: ProjectData): Part {
  const { language } = page
  const all = Object.values(view.link_urls)
  if (all.length === 0) return null
  const items = all.map(({ platform, donation, url }) => {
    const known = Object.hasOwn(LINK_ICONS, platform)
    const label = known
      ? language.t(`site.link.${platform as 'source'}`)
      : donation
        ? language.t('site.link.donate', { name: tagName(platform) })
        : tagName(platform)
    return html`<li><a href="${url}" rel="nofollow ugc noopener">${icon(page, known ? (LINK_ICONS[platform] ?? 'link') : 'gift')}${label}</a></li>`
  })
  return html`<section class="panel"><h2>${language.t('site.links')}</h2><ul class="links">${items}</ul></section>`
}

export function peoplePanel(
  { page }: Pick<SiteRequest, 'page'>,
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

/** What stands for no licence is said in words. */
function licenceName({ language }: PageContext, { id, name }: ProjectData['view']['license']): string {
  if (/^(?:LicenseRef-All-Rights-Reserved|ARR)$/i.test(id)) return language.t('site.licence.all-rights')
  return name === '' || name === id ? id.replace(/^LicenseRef-/, '').replaceAll('-', ' ') : name
}

function details({ page }: SiteRequest, { view }: ProjectData): Markup {
  const { language } = page
  const licence = licenceName(page, view.license)
  const shown =
    view.license.url === null ? licence : html`<a href="${view.license.url}" rel="nofollow ugc noopener">${licence}</a>`
  const tags = [...view.categories, ...view.additional_categories].map(
    (category) =>
      html`<li><a href="${pathTo(page, withQuery('/search', { c: category }))}">${tagName(category)}</a></li>`,
  )
  return html`<section class="panel"><h2>${language.t('site.details')}</h2><dl class="pairs"><dt>${language.t('site.licence')}</dt><dd>${shown}</dd>${tags.length > 0 && html`<dt>${language.t('site.facet.c')}</dt><dd><ul class="tags">${tags}</ul></dd>`}<dt>${language.t('site.published')}</dt><dd><time datetime="${view.published}">${dayText(language, new Date(view.published))}</time></dd><dt>${language.t('site.project-id')}</dt><dd><code>${view.id}</code></dd></dl></section>`
}
