// The newest releases of several projects, each compatible with the visitor's setup.
import { type LatestVersion, listFollowedIds, listLatestVersions } from '#features/catalogue/follows/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { setupFor } from '#web/kit/cookies.ts'
import { projectPath, versionPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { viewOf } from '../lists/rows.ts'

export type Release = Pick<LatestVersion, 'version_number' | 'version_type' | 'date_published'> & {
  name: string
  iconUrl: string | null
  path: string
}

const RELEASES = 8
const FOLLOWED_RELEASES = 6
/** Number of followed projects whose releases are compared, most recently followed first. */
const FOLLOWED_MAX = 200

type Reader = Pick<PageRequest, 'deps' | 'setup'>

/** Returns the newest releases of these projects, at most one per project, newest first. */
export async function listReleasesOf(
  { deps, setup }: Reader,
  projectIds: readonly string[],
  limit = RELEASES,
): Promise<Release[]> {
  const views = (await listVisibleProjects(deps, null, projectIds)).map(viewOf)
  const wanted = views.map(({ id, project_types }) => ({ id, ...setupFor(deps.taxonomy, setup, project_types) }))
  const byId = new Map(views.map((view) => [view.id, view]))
  // Reads the primary, because a cached page must not contain the older data of a replica.
  const latest = await listLatestVersions(deps.db, wanted)
  return latest
    .sort((a, b) => b.date_published.getTime() - a.date_published.getTime())
    .slice(0, limit)
    .flatMap((version) => {
      const view = byId.get(version.project_id)
      return view === undefined ? [] : [releaseOf(view, version)]
    })
}

function releaseOf(view: ProjectView, version: LatestVersion): Release {
  const { version_number, version_type, date_published } = version
  const path = versionPath(projectPath(view), version)
  return { name: view.name, iconUrl: view.icon_url, path, version_number, version_type, date_published }
}

/** Returns the newest releases of the projects that the visitor follows; undefined if nobody is signed in. */
export async function listFollowedReleases(request: PageRequest): Promise<Release[] | undefined> {
  const { deps, viewer } = request
  if (viewer === null) return undefined
  const ids = (await listFollowedIds(deps.db, viewer.id)).slice(0, FOLLOWED_MAX)
  return listReleasesOf(request, ids, FOLLOWED_RELEASES)
}
