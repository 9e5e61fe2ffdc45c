// Downloads of a batch, added up for the counters in the database.
import type { DownloadCounts } from './analytics-store.ts'
import type { DownloadEvent } from './events.ts'

/** By project and by version, in order of their IDs, which is also the order in which rows are to be locked. */
export function countByVersion(events: Iterable<Pick<DownloadEvent, 'project_id' | 'version_id'>>): DownloadCounts {
  const byProject = new Map<string, Map<string, number>>()
  for (const { project_id, version_id } of events) {
    const byVersion = byProject.get(project_id) ?? new Map<string, number>()
    byVersion.set(version_id, (byVersion.get(version_id) ?? 0) + 1)
    byProject.set(project_id, byVersion)
  }
  const counts: DownloadCounts = { projects: [], versions: [] }
  for (const [project_id, byVersion] of [...byProject].sort(byKey)) {
    let downloads = 0
    for (const [version_id, count] of [...byVersion].sort(byKey)) {
      counts.versions.push({ project_id, version_id, downloads: count })
      downloads += count
    }
    counts.projects.push({ project_id, downloads })
  }
  return counts
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1
}
