// The frame of the dashboard: its sections, and the projects of the user.

import type { FastifyReply } from 'fastify'
import {
  type CachedProject,
  listVisibleProjects,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showWork, type WorkPage } from '#web/kit/work-page.ts'
import type { Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import type { Rail } from '#web/ui/parts/frame.ts'

/** The sections of the dashboard, in the order of the rail. */
const SECTIONS: readonly (readonly { path: string; label: MessageKey; icon: IconName }[])[] = [
  [
    { path: PATHS.dashboard, label: 'publish.home', icon: 'home' },
    { path: PATHS.dashboardProjects, label: 'publish.projects', icon: 'box' },
    { path: PATHS.dashboardUploads, label: 'publish.uploads', icon: 'upload' },
    { path: PATHS.dashboardOrganizations, label: 'organizations.title', icon: 'building' },
    { path: PATHS.notifications, label: 'notifications.title', icon: 'bell' },
  ],
  [
    { path: PATHS.analytics, label: 'numbers.title', icon: 'chart' },
    { path: PATHS.revenue, label: 'revenue.title', icon: 'coins' },
    { path: PATHS.affiliates, label: 'revenue.affiliates', icon: 'link' },
  ],
  [
    { path: PATHS.dashboardCollections, label: 'collections.title', icon: 'bookmark' },
    { path: PATHS.dashboardPacks, label: 'collections.packs.title', icon: 'package' },
    { path: `${PATHS.dashboard}/follows`, label: 'reports.follows.title', icon: 'heart' },
    { path: `${PATHS.dashboard}/reports`, label: 'reports.own.title', icon: 'flag' },
    { path: PATHS.data, label: 'settings.data', icon: 'monitor' },
  ],
]

/** Returns the rail of the dashboard. */
export function dashboardSections({ language: { t } }: PageContext, current: string): Rail {
  const groups = SECTIONS.map((items) => ({ items: items.map(({ label, ...item }) => ({ ...item, label: t(label) })) }))
  return { label: t('publish.dashboard'), current, groups }
}

type DashboardPage = Omit<WorkPage, 'subject' | 'sections'> & { path: string; facts?: readonly Part[]; tools?: Part }

/** Shows a page of the dashboard in its frame. */
export function showDashboardPage(request: OwnRequest, of: DashboardPage): FastifyReply {
  const { t } = request
  const { path, facts = [], tools, ...page } = of
  return showWork(request, {
    ...page,
    subject: { name: t('publish.dashboard'), facts, tools },
    sections: dashboardSections(request.page, path),
  })
}

/** Fields that tables of the user's projects show. The texts of a project are left out, because reading hundreds of them is slow. */
export type ListedProject = Pick<
  ProjectView,
  | 'id'
  | 'slug'
  | 'name'
  | 'status'
  | 'project_types'
  | 'organization'
  | 'downloads'
  | 'followers'
  | 'updated'
  | 'icon_url'
  | 'raw_icon_url'
> & { latestVersion: string | undefined; gameVersions: readonly unknown[] }

const LISTED: DerivedForm<CachedProject, ListedProject> = {
  derive: (project) => {
    const view: ProjectView & { game_versions?: readonly unknown[] } = viewOf(project)
    const { id, slug, name, status, project_types, organization, downloads, followers } = view
    const { updated, icon_url, raw_icon_url, versions, game_versions: gameVersions = [] } = view
    const shown = { id, slug, name, status, project_types, organization, downloads, followers, updated }
    return { ...shown, icon_url, raw_icon_url, latestVersion: versions.at(-1), gameVersions }
  },
  sizeOf: ({ gameVersions }) => 1000 + 32 * gameVersions.length,
}

export type OwnProject = { project: CachedProject; view: ListedProject }

/** Returns the projects with the fields that tables show. */
export const toOwnProjects = ({ deps }: OwnRequest, projects: readonly CachedProject[]): OwnProject[] =>
  projects.map((project) => ({ project, view: projectForm(deps, project, LISTED) }))

/** Returns the projects of the user and of their organizations, with at most five statements for any number. */
export async function listOwnProjects(request: OwnRequest): Promise<OwnProject[]> {
  const { deps, viewer } = request
  const organizations = await listOrganizationIdsOf(deps.db, viewer.id)
  const own = await listProjectIdsOf(deps.db, viewer, viewer.id)
  const ofOrganizations = await listOrganizationProjectIds(deps.db, viewer, organizations)
  const ids = [...new Set([...own, ...ofOrganizations])]
  const projects = ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)
  return toOwnProjects(request, projects)
}
