// The projects that an analytics page counts: those of the user, or the project of the path; and the version of the URL.
import { isMember, requirePermission } from '#features/basics/access/project-policy.ts'
import {
  type CachedProject,
  getProjectAsMember,
  listVisibleProjects,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { canSeeAllAnalytics, canSeeRevenue } from '#features/reading/analytics/policy.ts'
import { type CountedVersion, listCountedVersions } from '#features/reading/analytics/queries.ts'
import { listReadableProjects, type ReadableProject } from '#features/reading/analytics/query/run-query.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { type ListedProject, toOwnProjects } from '../dashboard/dashboard-frame.ts'
import type { ManagedProject } from '../project/managed-project.ts'
import { METRIC_NAMES, METRICS, type MetricName } from './metrics.ts'
import type { Counted, Offer } from './selection.ts'

export type Subject = {
  /** Path of the page. */
  path: string
  /** Prefix of the names of CSV files. */
  fileName: string
  /** Projects by ID. */
  projects: ReadonlyMap<string, ListedProject>
  /** The only project of the page, if there is one. */
  project: ListedProject | undefined
  version: CountedVersion | undefined
  /** Whether the page is that of a project. */
  isOfProject: boolean
  sourcesFor: (metric: MetricName) => readonly string[]
  counted: Counted
  offer: Offer
}

/** Returns the subject of the page of a project. The viewer can see its analytics. @throws ApiError 404 for another version */
export async function subjectOfProject(request: OwnRequest, data: ManagedProject): Promise<Subject> {
  const { viewer } = request
  const { id } = data.project
  const seesRevenue = canSeeRevenue(viewer, data.membership)
  return toSubject({
    path: `${data.settings}/analytics`,
    fileName: data.view.slug,
    projects: viewsOf(request, [data.project]),
    readable: [{ id, seesRevenue }],
    isOfProject: true,
    isNamed: true,
    version: await versionOf(request, [id]),
  })
}

/**
 * Returns the subject of the account's page: all projects of the user, or the project that the URL names.
 * @throws ApiError 404 for a project or version that is absent or hidden, 403 for a project without VIEW_ANALYTICS
 */
export async function subjectOfAccount(request: OwnRequest): Promise<Subject> {
  const { deps, viewer, query } = request
  const name = query('project')
  const readable =
    name === '' ? await listReadableProjects(deps.db, viewer, undefined) : [await readableProject(request, name)]
  const ids = readable.map(({ id }) => id)
  const version = await versionOf(request, ids)
  const projects = ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)
  return toSubject({
    path: PATHS.analytics,
    fileName: 'analytics',
    projects: viewsOf(request, projects),
    readable: version === undefined ? readable : readable.filter(({ id }) => id === version.project_id),
    isOfProject: false,
    isNamed: name !== '' || version !== undefined,
    version,
  })
}

const viewsOf = (request: OwnRequest, projects: readonly CachedProject[]): Subject['projects'] =>
  new Map(toOwnProjects(request, projects).map(({ view }) => [view.id, view]))

async function readableProject({ deps, viewer }: OwnRequest, name: string): Promise<ReadableProject> {
  const { project, membership } = await getProjectAsMember(deps, viewer, name)
  if (!isMember(membership) && !canSeeAllAnalytics(viewer)) throw notFound('project')
  requirePermission(viewer, membership, 'VIEW_ANALYTICS')
  return { id: project.id, seesRevenue: canSeeRevenue(viewer, membership) }
}

async function versionOf(
  { deps, query }: OwnRequest,
  projectIds: readonly string[],
): Promise<CountedVersion | undefined> {
  const id = query('version')
  if (id === '') return undefined
  const [version] = isIdForm(id) ? await listCountedVersions(deps.db, [id]) : []
  if (version === undefined || !projectIds.includes(version.project_id)) throw notFound('version')
  return version
}

type Loaded = Pick<Subject, 'path' | 'fileName' | 'projects' | 'isOfProject' | 'version'> & {
  readable: readonly ReadableProject[]
  /** Whether the query of the API names the projects. */
  isNamed: boolean
}

function toSubject({ readable, isNamed, ...of }: Loaded): Subject {
  const ids = readable.map(({ id }) => id)
  const withRevenue = readable.filter(({ seesRevenue }) => seesRevenue).map(({ id }) => id)
  const sourcesFor = (metric: MetricName) => (metric === 'revenue' ? withRevenue : ids)
  const [only] = ids
  const project = ids.length === 1 && only !== undefined ? of.projects.get(only) : undefined
  const metrics = METRIC_NAMES.filter((name) => name !== 'revenue' || withRevenue.length > 0)
  const isAll = (metric: MetricName) => !isNamed && sourcesFor(metric).length === ids.length
  return {
    ...of,
    project,
    sourcesFor,
    counted: { namesFor: (metric) => (isAll(metric) ? undefined : sourcesFor(metric)), version: of.version?.id },
    offer: {
      metrics: of.version === undefined ? metrics : metrics.filter((name) => METRICS[name].hasVersions),
      without: [
        ...(of.isOfProject || isNamed ? (['project'] as const) : []),
        ...(of.version === undefined ? [] : (['version'] as const)),
      ],
    },
  }
}
