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
import {
  collectionPath,
  organizationPath,
  PATHS,
  reportPath,
  savedPackPath,
  userPath,
  withQuery,
} from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { dayText, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { badge, face, note } from '#web/ui/parts/lists.ts'
import { roleName, setupName } from '../names.ts'
import { packPath } from '../pack/pack-state.ts'
import { peoplePanel } from '../project/project-panels.ts'
import { detailsPanel, facts, linkPanel, profilePage } from './profile-page.ts'
import { loadSlice } from './project-slice.ts'

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
  const teams = await listCachedTeams(
    deps,
    organizations.map(({ team_id }) => team_id),
  )
  const roleIn = (teamId: string) => teams.get(teamId)?.members.find(({ account_id }) => account_id === user.id)?.role
  const projectCount = (count: number) => language.t('site.count.project', { count })
  const aside = html`${detailsPanel(page, [
    [language.t('site.joined.label'), dayText(language, new Date(user.created))],
    projects.updated !== undefined && [
      language.t('site.updated.last'),
      timeAgo(language, new Date(projects.updated), page.now),
    ],
    [language.t('site.user-id'), html`<bdi>${user.id}</bdi>`],
  ])}
${linkPanel(
  page,
  language.t('site.organizations'),
  organizations.map(({ name, slug, icon_url, team_id }) => {
    const role = roleIn(team_id)
    const about = role === undefined ? null : roleName(language, role)
    return { name, url: icon_url, path: organizationPath(slug), about }
  }),
)}
${linkPanel(
  page,
  language.t('site.collections'),
  collections.map(({ name, id, icon_url, projects: listed }) => ({
    name,
    url: icon_url,
    path: collectionPath(id),
    about: projectCount(listed.length),
  })),
)}
${linkPanel(
  page,
  language.t('collections.packs.title'),
  packs.map(({ name, slug, projects: listed, game_version: gameVersion, loader }) => ({
    name,
    url: null,
    path: savedPackPath(user.username, slug),
    about: html`${setupName(language, { gameVersion, loader: loader ?? '' })} · ${projectCount(listed.length)}`,
  })),
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
      aside: html`${detailsPanel(page, [
        [page.language.t('site.people'), wholeNumber(page.language, members.length)],
        projects.updated !== undefined && [
          page.language.t('site.updated.last'),
          timeAgo(page.language, new Date(projects.updated), page.now),
        ],
        [page.language.t('site.organization-id'), html`<bdi>${organization.id}</bdi>`],
      ])}${peoplePanel(page, { organization: undefined, members })}`,
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
  const aside = html`${detailsPanel(page, [
    [language.t('site.published'), dayText(language, new Date(collection.created))],
    [language.t('site.updated'), timeAgo(language, new Date(collection.updated), page.now)],
  ])}${owner !== undefined && linkPanel(page, language.t('people.owner'), [{ name: owner.username, url: viewOf(owner).avatar_url, path: userPath(owner.username), about: null, isRound: true }])}`
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
      head: html`${face({ name: collection.name, url: collection.icon_url, rawUrl: collection.raw_icon_url, isSquare: true, isLarge: true })}<div><h1 dir="auto">${collection.name}</h1>${collection.description !== null && html`<p class="what" dir="auto">${collection.description}</p>`}${facts(request, projects)}${collection.status !== 'private' && projects.total > 0 && archiveLink(request, id)}</div>`,
      actions: projects.total > 0 && (await packLink(request, collection)),
      projects,
      aside,
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
