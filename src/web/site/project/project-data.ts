// What the pages of a project share: the project as its viewer sees it, and the file that fits their setup.

import type { Static } from 'typebox'
import { findMembership } from '#features/basics/access/memberships.ts'
import { isMember } from '#features/basics/access/project-policy.ts'
import { listFollowedIds } from '#features/catalogue/follows/queries.ts'
import {
  type CachedProject,
  getProject,
  listVisibleProjects,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listRequired } from '#features/catalogue/versions/dependencies/required-versions.ts'
import { listUpdates } from '#features/catalogue/versions/hashes/resolve-files.ts'
import {
  type CachedVersion,
  filterVisibleVersions,
  listCachedVersions,
} from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionFilter } from '#features/catalogue/versions/lookup/version-filter.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { listCachedOrganizations, listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import type { OrganizationView } from '#features/community/organizations/views.ts'
import { shownProjectMembers, toMemberLists } from '#features/community/teams/member-lists.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { TeamMemberView } from '#features/community/teams/views.ts'
import { listAllRequired } from '#features/operations/downloads/archive/choose-files.ts'
import { ApiError } from '#lib/errors.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { isSet, type Setup } from '#web/kit/setup.ts'
import { projectPath } from '#web/kit/site-paths.ts'
import { viewOf } from '../lists/rows.ts'

export type Member = Static<typeof TeamMemberView>
export type Organization = Static<typeof OrganizationView>

/** A file with the project and the version it belongs to. */
export type Offered = { project: ProjectView; path: string; version: VersionView }

export type ProjectData = {
  project: CachedProject
  view: ProjectView
  path: string
  /** Whether the viewer follows it, and whether they belong to it. */
  isFollowed: boolean
  isMember: boolean
  /** What is offered for download; none while there is no version. `fits` is false where none is for the setup. */
  offer: { version: VersionView; fits: boolean; needs: Offered[]; archive: ArchiveFacts | undefined } | undefined
  /** Named by the version that is offered, as far as the viewer may see them; and projects that need this one. */
  dependencies: Named[]
  dependentCount: number
}

/** What everybody gets as one archive. */
export type ArchiveFacts = { count: number; sizeBytes: number }

/** @throws ApiError 404 when it is absent or hidden */
export async function loadProject(request: SiteRequest): Promise<ProjectData> {
  const { deps, viewer, setup } = request
  const project = await getProject(deps, viewer, request.param('slug'))
  const view = viewOf(project)
  const followed = viewer === null ? [] : await listFollowedIds(deps.db, viewer.id)
  const offer = await findOffer(request, view, setup)
  return {
    project,
    view,
    path: projectPath({ slug: view.slug, types: view.project_types }),
    isFollowed: followed.includes(project.id),
    isMember: viewer !== null && isMember(await findMembership(deps.db, viewer.id, project)),
    offer,
    dependencies: offer === undefined ? [] : await loadNamed(request, offer.version.dependencies),
    dependentCount: await request.figures.dependents(project.id),
  }
}

/** The filter of a version list for a setup. A loader is asked of what runs on one. */
export function setupFilter(setup: Setup, types: readonly string[]): VersionFilter {
  return {
    ...(setup.loader !== '' && types.includes('mod') ? { loaders: [setup.loader] } : {}),
    ...(setup.gameVersion !== '' ? { loaderFields: { game_versions: [setup.gameVersion] } } : {}),
  }
}

/** Dependencies that are offered beside a file. */
const NEEDS_MAX = 12

async function findOffer(request: SiteRequest, view: ProjectView, setup: Setup): Promise<ProjectData['offer']> {
  const { deps } = request
  const [fitting, newest] = await listUpdates(deps, [
    { projectId: view.id, filter: setupFilter(setup, view.project_types) },
    { projectId: view.id, filter: {} },
  ])
  const id = fitting ?? newest
  const [cached] = id === undefined ? [] : await listCachedVersions(deps, [id])
  if (cached === undefined) return undefined
  const version = versionOf(cached)
  const filter = requiredFilter(version, setup)
  const needs = await findNeeds(request, version, filter)
  return {
    version,
    fits: !isSet(setup) || fitting !== undefined,
    needs,
    archive: needs.length === 0 ? undefined : await archiveFacts(request, cached, filter),
  }
}

function requiredFilter({ loaders }: VersionView, { loader, gameVersion }: Setup): VersionFilter {
  return {
    loaders: loader === '' ? loaders : [loader],
    ...(gameVersion === '' ? {} : { loaderFields: { game_versions: [gameVersion] } }),
  }
}

/** Of the archive of a version with what it requires; undefined where there is none, because that is too much. */
export async function archiveFacts(
  { deps }: Pick<SiteRequest, 'deps'>,
  cached: CachedVersion,
  filter: VersionFilter,
): Promise<ArchiveFacts | undefined> {
  const required = await listAllRequired(deps, null, [cached], filter).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  })
  if (required === undefined) return undefined
  const files = [...versionOf(cached).files, ...required.flatMap((each) => primaryFile(versionOf(each)) ?? [])]
  return { count: files.length, sizeBytes: files.reduce((sum, { size }) => sum + size, 0) }
}

/** What the version requires, each with the version for the same setup: the one that is named, else the newest that fits. */
async function findNeeds(
  { deps, viewer }: SiteRequest,
  version: VersionView,
  filter: VersionFilter,
): Promise<Offered[]> {
  const required = await listRequired(deps, viewer, [version], filter)
  return required.slice(0, NEEDS_MAX).map((each) => {
    const project = viewOf(each.project)
    const path = projectPath({ slug: project.slug, types: project.project_types })
    return { project, path, version: versionOf(each.version) }
  })
}

export function versionOf(version: Pick<CachedVersion, 'bytes'>): VersionView {
  return JSON.parse(version.bytes.toString())
}

/** The file to install. */
export function primaryFile(version: VersionView): VersionView['files'][number] | undefined {
  return version.files.find(({ primary }) => primary) ?? version.files[0]
}

/** Who is behind a project: the organization that owns it, and the members that the viewer sees. */
export async function loadPeople(
  { deps, viewer }: SiteRequest,
  { team_id, organization_id }: CachedProject,
): Promise<{ organization: Organization | undefined; members: Member[] }> {
  const teams = await listCachedTeams(deps, [team_id])
  const owning = await listOwningTeams(deps, [{ organization_id }])
  const team = teams.get(team_id)
  const shown = team === undefined ? [] : shownProjectMembers(team, viewer, owning.get(organization_id ?? ''))
  const [members = '[]'] = await toMemberLists(deps, [shown.filter(({ row }) => row.accepted)])
  const [organization] = organization_id === null ? [] : await listCachedOrganizations(deps, [organization_id])
  return {
    members: JSON.parse(members),
    organization: organization === undefined ? undefined : JSON.parse(`${organization.openView}[]}`),
  }
}

export type Named = {
  type: string
  project: ProjectView | undefined
  path: string
  version: VersionView | undefined
  fileName: string | null
}

/** Dependencies as what they name, as far as the viewer may see it; what is hidden is left out. */
export async function loadNamed(
  { deps, viewer }: SiteRequest,
  dependencies: VersionView['dependencies'],
): Promise<Named[]> {
  const projectIds = dependencies.flatMap(({ project_id }) => project_id ?? [])
  const versionIds = dependencies.flatMap(({ version_id }) => version_id ?? [])
  const projects = new Map((await listVisibleProjects(deps, viewer, projectIds)).map((each) => [each.id, viewOf(each)]))
  const cached = await filterVisibleVersions(deps.db, viewer, await listCachedVersions(deps, versionIds))
  const versions = new Map(cached.map((each) => [each.id, versionOf(each)]))
  return dependencies.flatMap(({ dependency_type: type, project_id, version_id, file_name: fileName }) => {
    const project = projects.get(project_id ?? '')
    if (project === undefined && fileName === null) return []
    const path = project === undefined ? '' : projectPath({ slug: project.slug, types: project.project_types })
    return [{ type, project, path, version: versions.get(version_id ?? ''), fileName }]
  })
}
