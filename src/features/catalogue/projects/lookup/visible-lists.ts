// Reads lists of projects of any length, such as the projects that a user follows.
import { hasScope } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { type CachedProject, listVisibleProjects, type ProjectReader } from './project-cache.ts'

/** Number of IDs per statement, far below the limit of PostgreSQL. */
const BATCH_IDS = 5_000

/**
 * Returns the projects with these IDs that the viewer can see, in this order. Runs at most two statements per 5,000
 * projects.
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

/** Returns the viewer if their token includes PROJECT_READ, otherwise null: the request then sees public projects only. */
export function projectViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'PROJECT_READ') ? viewer : null
}
