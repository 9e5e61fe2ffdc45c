// Lists of projects by ID that may be of any length, such as those a user follows.
import { hasScope } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { type CachedProject, listVisibleProjects, type ProjectReader } from './project-cache.ts'

/** Far below what one statement can name. */
const BATCH_IDS = 5_000

/**
 * The projects of these IDs that the viewer may see, in this order: two statements for each 5000 that the cache lacks
 * or that are not public.
 */
export async function listVisibleByIds(
  reader: ProjectReader,
  viewer: Viewer | null,
  ids: readonly string[],
): Promise<CachedProject[]> {
  const projects: CachedProject[] = []
  for (let from = 0; from < ids.length; from += BATCH_IDS) {
    projects.push(...(await listVisibleProjects(reader, viewer, ids.slice(from, from + BATCH_IDS))))
  }
  return projects
}

/** As whom a request for something else sees projects: a token without PROJECT_READ sees what anybody sees. */
export function projectViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'PROJECT_READ') ? viewer : null
}
