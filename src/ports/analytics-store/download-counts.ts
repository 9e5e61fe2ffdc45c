// Adds up downloads for the counters in the database.
import type { DownloadCounts, VersionDownloads } from './analytics-store.ts'
import type { DownloadEvent } from './events.ts'

/** Counts downloads by project and version, in order of their IDs, which is also the order of row locks. */
export function countByVersion(events: Iterable<Pick<DownloadEvent, 'project_id' | 'version_id'>>): DownloadCounts {
  const byProject = new Map<string, Map<string, number>>()
  for (const { project_id, version_id } of events) {
    const byVersion = byProject.get(project_id) ?? new Map<string, number>()
    byVersion.set(version_id, (byVersion.get(version_id) ?? 0) + 1)
    byProject.set(project_id, byVersion)
  }
  const counts: DownloadCounts = { projects: [], versions: [] }
  for (const [project_id, byVersion] of [...byProject].sort(byKey)) {
    for (const [version_id, downloads] of [...byVersion].sort(byKey)) {
      addDownloads(counts, { project_id, version_id, downloads })
    }
  }
  return counts
}

/** Adds the downloads of a version. Versions must be added in order of their projects. */
export function addDownloads({ projects, versions }: DownloadCounts, version: VersionDownloads): void {
  const { project_id, downloads } = version
  const last = projects.at(-1)
  if (last?.project_id === project_id) last.downloads += downloads
  else projects.push({ project_id, downloads })
  versions.push(version)
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1
}
