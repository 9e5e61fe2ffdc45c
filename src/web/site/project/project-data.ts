// Loads the data of a project's pages.

import type { Static } from 'typebox'
import { findMembership } from '#features/basics/access/memberships.ts'
import { isMember } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { completeFilter } from '#features/catalogue/resolve/choose-required.ts'
import { listShownAdvisories, type ShownAdvisory } from '#features/catalogue/versions/advisories/shown-advisories.ts'
import { countDependents } from '#features/catalogue/versions/dependencies/dependents.ts'
import { listRelated } from '#features/catalogue/versions/dependencies/related-projects.ts'
import type { CachedVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionTraits, type VersionTraits } from '#features/catalogue/versions/queries.ts'
import { listCachedOrganizations, listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import type { OpenOrganization } from '#features/community/organizations/views.ts'
import { shownProjectMembers, toMemberLists } from '#features/community/teams/member-lists.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { TeamMemberView } from '#features/community/teams/views.ts'
import type { DownloadSeries } from '#features/reading/analytics/views.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { NO_SETUP } from '#web/kit/cookies.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { Markup } from '#web/ui/html.ts'
import type { Mark } from '#web/ui/plots/time-plot.ts'
import { findOffer, loadOffer, type Offer } from './offer.ts'

export type Member = Static<typeof TeamMemberView>
export type Organization = OpenOrganization

const DEPENDENT_COUNT = defineCache<RememberDefinition<number>>({
  name: 'dependent-count',
  contains: 'Number of projects that use a project',
  maxAgeMs: MINUTE_MS,
  maxBytes: 4 * MIB,
})

/** Data of every page of a project. */
export type ProjectData = {
  project: CachedProject
  view: ProjectView
  path: string
  isMember: boolean
  /** IDs of the members of the project and of its organization, also of those who were only invited. */
  insiders: ReadonlySet<string>
  /** Undefined if the project has no version. */
  offer: Offer | undefined
  /** Whether the page is about the offered version. */
  isOwnOffer: boolean
  /** Number of projects that depend on this project, at most a minute old. */
  dependentCount: number
}

/** Data of the first page of a project. */
export type ProjectPageData = ProjectData & {
  description: Markup
  organization: Organization | undefined
  members: Member[]
  /** Loaders and game versions of each version, newest first. */
  traits: readonly VersionTraits[]
  related: readonly CachedProject[]
  /** Published advisories, newest first. */
  advisories: readonly ShownAdvisory[]
  /** Undefined if the statistics are private, empty or unavailable. */
  downloads: Downloads | undefined
}

/** Loads the data of every page of a project. `offered` replaces the version that the header offers. */
export async function loadProject(
  request: PageRequest,
  project: CachedProject,
  offered?: CachedVersion,
): Promise<ProjectData> {
  const { deps, viewer } = request
  const dependents = deps.cache.remember(DEPENDENT_COUNT)
  const view = viewOf(project)
  return {
    project,
    view,
    path: projectPath(view),
    isMember: viewer !== null && isMember(await findMembership(deps.db, viewer, project)),
    insiders: await listInsiders(deps, project),
    offer: await (offered === undefined ? findOffer(request, view) : offerOwn(request, offered)),
    isOwnOffer: offered !== undefined,
    dependentCount: await dependents.get(project.id, () => countDependents(deps.dbRead, project.id)),
  }
}

async function listInsiders(deps: PageRequest['deps'], project: CachedProject): Promise<Set<string>> {
  const own = await listCachedTeams(deps, [project.team_id])
  const owning = await listOwningTeams(deps, [project])
  return new Set([...own.values(), ...owning.values()].flatMap(({ members }) => members.map((each) => each.account_id)))
}

/** Returns the offer of a version for the loaders and game versions that it supports. */
function offerOwn(request: PageRequest, cached: CachedVersion): Promise<Offer> {
  const filter = completeFilter(request.deps, {}, viewOf(cached))
  return loadOffer(request, cached, { setup: NO_SETUP, filter, isCompatible: true })
}

export async function loadProjectPage(request: PageRequest, project: CachedProject): Promise<ProjectPageData> {
  const { deps, viewer, page, texts } = request
  const data = await loadProject(request, project)
  const { team_id, organization_id } = project
  const team = (await listCachedTeams(deps, [team_id])).get(team_id)
  const owning = await listOwningTeams(deps, [{ organization_id }])
  const [organization] = organization_id === null ? [] : await listCachedOrganizations(deps, [organization_id])
  const shown = team === undefined ? [] : shownProjectMembers(team, viewer, owning.get(organization_id ?? ''))
  const [members = '[]'] = await toMemberLists(deps, [shown.filter(({ row }) => row.accepted)])
  const traits = await listVersionTraits(deps.db, project.id, {})
  const showsDownloads = data.view.public_statistics && data.view.downloads > 0
  const downloads = showsDownloads ? await loadDownloads(request, { project, traits }, null, DEFAULT_SPAN) : 'private'
  return {
    ...data,
    description: await texts.render(data.view.description, page, data.view),
    organization: organization === undefined ? undefined : viewOf(organization),
    members: JSON.parse(members),
    traits,
    related: await listRelated(deps, project.id),
    advisories: await listShownAdvisories(deps, project.id),
    downloads: typeof downloads === 'string' ? undefined : downloads,
  }
}

/** Time spans of the statistics, in days. */
export const SPANS = [30, 90, 365] as const
export type Span = (typeof SPANS)[number]
export const DEFAULT_SPAN = 90

/** Maximum number of releases that a plot marks: the newest ones. */
const MARKS_MAX = 40

export type Downloads = {
  span: Span
  series: DownloadSeries
  releases: Mark[]
  /** Version numbers by version ID. */
  numbers: ReadonlyMap<string, string>
}

/** Returns `private` if the viewer cannot see the statistics, and `failed` if the analytics store is unavailable. */
export async function loadDownloads(
  { deps, statistics }: PageRequest,
  { project, traits }: { project: CachedProject; traits?: readonly VersionTraits[] },
  viewer: Viewer | null,
  span: Span,
): Promise<Downloads | 'private' | 'failed'> {
  const result = await statistics.read(project, viewer, span).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    deps.log.warn({ err: error, project_id: project.id }, 'Could not read the statistics of a project')
  })
  if (result === undefined) return 'failed'
  if (result.series === null) return 'private'
  const rows = traits ?? (await listVersionTraits(deps.db, project.id, {}))
  return {
    span,
    series: result.series,
    releases: rows
      .toSorted((a, b) => b.date_published.getTime() - a.date_published.getTime())
      .slice(0, MARKS_MAX)
      .map(({ version_number, date_published }) => ({ at: date_published, label: version_number })),
    numbers: new Map(rows.map(({ id, version_number }) => [id, version_number])),
  }
}
