// The frame of the dashboard: its sections, and the projects of the user.
import type { FastifyReply } from 'fastify'
import { type CachedProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listOrganizationIdsOf, listOrganizationProjectIds, listProjectIdsOf } from '#features/people/users/queries.ts'
import type { Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import type { Rail } from '#platform/html/work/frame.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showWork, type WorkPage } from '#web/kit/work/work-page.ts'
import { viewOf } from '#web/site/lists/rows.ts'

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
  const { t } = request.page.language
  const { path, facts = [], tools, ...page } = of
  return showWork(request, {
    ...page,
    subject: { name: t('publish.dashboard'), facts, ...(tools === undefined ? {} : { tools }) },
    sections: dashboardSections(request.page, path),
  })
}

export type OwnProject = { project: CachedProject; view: ProjectView }

/** Returns the projects of the user and of their organizations, with at most five statements for any number. */
export async function listOwnProjects({ deps, viewer }: OwnRequest): Promise<OwnProject[]> {
  const organizations = await listOrganizationIdsOf(deps.db, viewer.id)
  const own = await listProjectIdsOf(deps.db, viewer, viewer.id)
  const ofOrganizations = await listOrganizationProjectIds(deps.db, viewer, organizations)
  const ids = [...new Set([...own, ...ofOrganizations])]
  const projects = ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)
  return projects.map((project) => ({ project, view: viewOf(project) }))
}
