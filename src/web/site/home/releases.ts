// The newest releases of several projects, each compatible with the visitor's setup.

import { listCachedFollows } from '#features/catalogue/follows/follows-cache.ts'
import { type LatestVersion, listLatestVersions } from '#features/catalogue/follows/queries.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { DerivedDefinition } from '#platform/cache/derived-cache.ts'
import { setupFor } from '#web/kit/cookies.ts'
import { projectPath, versionPath } from '#web/kit/paths.ts'
import type { Reader } from '#web/kit/personal-parts.ts'

export type Release = Pick<LatestVersion, 'version_number' | 'version_type' | 'date_published'> & {
  name: string
  iconUrl: string | null
  path: string
}

const RELEASES = 8
const FOLLOWED_RELEASES = 6
/** Number of followed projects whose releases are compared, most recently followed first. */
const FOLLOWED_MAX = 200

/** Returns the newest releases of these projects, at most one per project, newest first. */
export async function listReleasesOf(
  { deps, setup }: Pick<Reader, 'deps' | 'setup'>,
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

const FOLLOWED = defineCache<DerivedDefinition<readonly Release[]>>({
  name: 'followed-releases',
  contains: 'Newest releases of the projects that an account follows',
  sizeOf: (releases) => 2 * JSON.stringify(releases).length,
})

/** Returns the newest releases of the projects that an account follows. */
export async function listFollowedReleases(
  { deps, setup }: Pick<Reader, 'deps' | 'setup'>,
  accountId: string,
): Promise<readonly Release[]> {
  const cache = deps.cache.derived(FOLLOWED)
  const key = `${accountId}\n${setup.gameVersion}\n${setup.loader}`
  const known = cache.peek(key)
  if (known !== undefined) return known
  const entry = cache.begin(deps.cache)
  try {
    const recording = { ...deps, cache: entry.cache }
    const ids = (await listCachedFollows(recording, accountId)).slice(0, FOLLOWED_MAX)
    const releases = await listReleasesOf({ deps: recording, setup }, ids, FOLLOWED_RELEASES)
    entry.store(key, releases)
    return releases
  } finally {
    entry.end()
  }
}
