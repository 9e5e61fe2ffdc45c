// The pages of users, organizations and collections.

import type { FastifyReply } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listCollections, listCollectionsOf } from '#features/community/collections/queries.ts'
import { type CollectionView, toCollectionView } from '#features/community/collections/views.ts'
import {
  getOrganization,
  listCachedOrganizations,
  toOrganizationView,
} from '#features/community/organizations/organization-cache.ts'
import type { OrganizationView } from '#features/community/organizations/views.ts'
import { listPacksOf } from '#features/community/packs/queries.ts'
import { PACK_PROJECTS_MAX } from '#features/community/packs/requests.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import { getCachedUser, listCachedUsers } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { isSet } from '#web/kit/cookies.ts'
import {
  collectionPath,
  feedLinks,
  organizationPath,
  PATHS,
  type ProjectType,
  reportPath,
  savedPackPath,
  userPath,
  withQuery,
} from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { countOf, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge, emptyState, face, note, pager, tabs } from '#web/ui/parts/lists.ts'
import { hitList } from '../lists/rows.ts'
import { hueClass, setupName, TYPE_ICONS, typesName } from '../names.ts'
import { packPath } from '../pack/pack-state.ts'
import { peoplePanel } from '../project/project-panels.ts'
import { setupForm } from '../setup-form.ts'
import { loadSlice, type ProjectSlice, type SliceFilter, slicePath } from './project-slice.ts'

export async function showUser(request: PageRequest): Promise<FastifyReply> {
  const { deps, viewer, page, show, param, redirectPermanently, language } = request
  const cached = await getCachedUser(deps, param('name'))
  if (cached.username !== param('name')) return redirectPermanently(userPath(cached.username))
  const user = viewOf(cached)
  const projects = await loadSlice(request, await listProjectIdsOf(deps.db, viewer, user.id))
  const organizations = (await listCachedOrganizations(deps, await listOrganizationIdsOf(deps.db, user.id))).map(viewOf)
  const collections = (await listCollectionsOf(deps.db, viewer, user.id)).map(toCollectionView(deps.config))
  const packs = await listPacksOf(deps.db, viewer, user.id)
  const role =
    user.role === 'developer' ? null : badge('good', language.t(`site.role.${user.role as 'moderator' | 'admin'}`))
  const service = user.service_of === undefined ? null : badge('good', language.t('organizations.services.badge'))
  const aside = html`${linkPanel(
    page,
    language.t('site.organizations'),
    organizations.map(({ name, slug, icon_url }) => ({ name, url: icon_url, path: organizationPath(slug) })),
  )}
${linkPanel(
  page,
  language.t('site.collections'),
  collections.map(({ name, id, icon_url }) => ({ name, url: icon_url, path: collectionPath(id) })),
)}
${linkPanel(
  page,
  language.t('collections.packs.title'),
  packs.map(({ name, slug }) => ({ name, url: null, path: savedPackPath(user.username, slug) })),
)}`
  return show(
    profilePage(request, {
      insiders: new Set([user.id]),
      path: userPath(user.username),
      name: user.username,
      kind: 'profile',
      ...(viewer?.id === user.id ? {} : { report: reportPath('user', user.id) }),
      about: user.bio ?? '',
      head: html`${face({ name: user.username, url: user.avatar_url, isLarge: true })}<div><h1><bdi>${user.username}</bdi> ${role}${service}</h1>${user.bio !== null && html`<p class="what" dir="auto">${user.bio}</p>`}${facts(request, projects, user.created)}</div>`,
      projects,
      aside,
      edit: viewer?.id === user.id ? { path: PATHS.profile, label: language.t('site.profile.edit') } : undefined,
      structured: {
        '@type': 'ProfilePage',
        mainEntity: {
          '@type': 'Person',
          name: user.username,
          ...(user.avatar_url === null ? {} : { image: user.avatar_url }),
        },
      },
    }),
  )
}

export async function showOrganization(request: PageRequest): Promise<FastifyReply> {
  const { deps, viewer, page, param, redirectPermanently, show } = request
  const cached = await getOrganization(deps, param('name'))
  if (cached.slug !== param('name')) return redirectPermanently(organizationPath(cached.slug))
  const organization = viewOf<OrganizationView>({ bytes: await toOrganizationView(deps, viewer, cached) })
  const projects = await loadSlice(request, await listOrganizationProjectIds(deps.db, viewer, [cached.id]))
  const team = (await listCachedTeams(deps, [cached.team_id])).get(cached.team_id)
  const members = organization.members.filter(({ accepted }) => accepted)
  const mayManage = isModerator(viewer) || members.some(({ user }) => user.id === viewer?.id)
  return show(
    profilePage(request, {
      insiders: new Set(team?.members.map(({ account_id }) => account_id)),
      path: organizationPath(organization.slug),
      name: organization.name,
      kind: 'website',
      about: organization.description,
      color: organization.color,
      head: html`${face({ name: organization.name, url: organization.icon_url, rawUrl: organization.raw_icon_url, isSquare: true, isLarge: true })}<div><h1 dir="auto">${organization.name}</h1><p class="what" dir="auto">${organization.description}</p>${facts(request, projects)}</div>`,
      projects,
      aside: peoplePanel(page, { organization: undefined, members }),
      edit: mayManage
        ? { path: `${organizationPath(cached.slug)}/settings`, label: page.language.t('site.organization.settings') }
        : undefined,
      structured: { '@type': 'Organization', name: organization.name, description: organization.description },
    }),
  )
}

export async function showCollection(request: PageRequest): Promise<FastifyReply> {
  const { deps, viewer, page, show, param, language } = request
  const id = param('id')
  const [row] = isIdForm(id) ? await listCollections(deps.db, viewer, [id]) : []
  if (row === undefined) throw notFound('collection')
  const collection = toCollectionView(deps.config)(row)
  const [owner] = await listCachedUsers(deps, [collection.user])
  const projects = await loadSlice(request, collection.projects, { isOrdered: true })
  const by =
    owner === undefined
      ? null
      : html`<p class="soft">${language.rich('site.by', { name: html`<a href="${pathTo(page, userPath(owner.username))}"><bdi>${owner.username}</bdi></a>` })}</p>`
  const state =
    collection.status === 'listed'
      ? null
      : html`<div class="state">${note(page, 'warn', html`<p>${language.t(`site.collection.${collection.status}`)}</p>`)}</div>`
  return show(
    profilePage(request, {
      insiders: new Set([collection.user]),
      path: collectionPath(id),
      name: collection.name,
      kind: 'website',
      about: collection.description ?? '',
      color: collection.color,
      isUnlisted: collection.status !== 'listed',
      before: state,
      head: html`${face({ name: collection.name, url: collection.icon_url, rawUrl: collection.raw_icon_url, isSquare: true, isLarge: true })}<div><h1 dir="auto">${collection.name}</h1>${collection.description !== null && html`<p class="what" dir="auto">${collection.description}</p>`}${by}${facts(request, projects, undefined, collection.updated)}${collection.status !== 'private' && projects.total > 0 && archiveLink(request, id)}</div>`,
      actions: projects.total > 0 && (await packLink(request, collection)),
      projects,
      aside: null,
      edit:
        isModerator(viewer) || viewer?.id === collection.user
          ? { path: `${collectionPath(id)}/edit`, label: language.t('site.collection.edit') }
          : undefined,
      structured: { '@type': 'CollectionPage', name: collection.name },
    }),
  )
}

/** Leads to the pack of the projects, for the visitor's setup. Packs cannot be part of packs. */
async function packLink({ deps, page, setup }: PageRequest, { name, projects }: CollectionView): Promise<Part> {
  const all = (await listVisibleProjects(deps, null, projects)).map(viewOf)
  const ids = all
    .filter(({ project_types: types }) => types.length > 0 && !types.includes('modpack'))
    .map(({ id }) => id)
  if (ids.length === 0) return null
  const state = { projects: ids.slice(0, PACK_PROJECTS_MAX), ...setup, name, loaderVersion: '', pack: '' }
  const label = html`${icon(page, 'package')}${page.language.t('site.pack.from-collection')}`
  return html`<a class="button" href="${pathTo(page, packPath(state))}" rel="nofollow">${label}</a>`
}

/** Links to an archive of all public projects that are compatible with the visitor's setup. */
function archiveLink({ page, setup: { loader, gameVersion } }: PageRequest, id: string): Markup {
  const href = withQuery(`/v3/collection/${id}/archive`, {
    dependencies: 'true',
    loaders: loader === '' ? undefined : JSON.stringify([loader]),
    game_versions: gameVersion === '' ? undefined : JSON.stringify([gameVersion]),
  })
  return html`<p class="small"><a href="${pathTo(page, href)}" download>${page.language.t('site.get.all')}</a></p>`
}

/** Shows the totals of all projects, whatever the list is limited to. */
function facts(
  { page }: PageRequest,
  { total, downloads, followers }: ProjectSlice,
  joined?: string,
  updated?: string,
): Markup {
  const { language } = page
  return html`<ul class="facts-line"><li>${language.t('site.count.project', { count: total })}</li><li>${countOf(language, downloads)} ${language.t('site.downloads', { count: downloads })}</li><li>${countOf(language, followers)} ${language.t('site.followers', { count: followers })}</li>${joined !== undefined && html`<li>${language.rich('site.joined', { at: timeAgo(language, new Date(joined), page.now) })}</li>`}${updated !== undefined && html`<li>${language.rich('site.updated-at', { at: timeAgo(language, new Date(updated), page.now) })}</li>`}</ul>`
}

type Profile = {
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
function profilePage(request: PageRequest, of: Profile): ShownPage {
  const { page, deps, language } = request
  const { rows, current, last, filter } = of.projects
  const hasAside = of.projects.total > 0 || (of.aside !== null && String(html`${of.aside}`).trim() !== '')
  const isNarrowed = filter.type !== undefined || filter.ignoresSetup
  const list = rows.length > 0 ? hitList({ page, taxonomy: deps.taxonomy }, rows) : emptyList(page, of)
  return {
    status: current > last ? 404 : 200,
    title: of.name,
    insiders: of.insiders,
    ...(of.about === '' ? {} : { description: of.about.slice(0, 300) }),
    canonical: of.path,
    isUnlisted: of.isUnlisted === true || current > last || isNarrowed,
    className: ['page', hueClass(of.color)].filter(Boolean).join(' '),
    openGraph: { type: of.kind },
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

/** Shows how many projects are compatible with the setup, with a link to all. Shows nothing without a setup. */
function head(page: PageContext, { path, projects }: Profile): Part {
  const { language } = page
  const { filter, matching } = projects
  if (!isSet(filter.setup)) return null
  const setup = language.t('site.for', { setup: setupName(language, filter.setup) })
  const title = filter.type === undefined ? 'site.count.project' : (`site.count.${filter.type}` as const)
  return html`<div class="results-head"><h2>${language.t(title, { count: matching })}</h2><p class="picked"><a href="${pathTo(page, slicePath(path, { ...filter, ignoresSetup: true }))}"><span class="vh">${language.t('site.remove')} </span>${setup} ${icon(page, 'x')}</a></p></div>`
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

/** Renders links with their icons. */
function linkPanel(
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
