// Adds up downloads for the counters in the database.
import type { DownloadCounts, VersionDownloads } from './analytics-store.ts'
import type { DownloadEvent } from './events.ts'

/** Counts downloads by project and version, in order of their IDs, which is also the order of row locks. */
export function countByVersion(events: Iterable<Pick<DownloadEvent, 'project_id' | 'version_id'>>): DownloadCounts {
  const byVersion = Map.groupBy(events, ({ project_id, version_id }) => `${project_id}\t${version_id}`)
  const counts: DownloadCounts = { projects: [], versions: [] }
  for (const key of [...byVersion.keys()].sort()) {
    const [project_id = '', version_id = ''] = key.split('\t')
    addDownloads(counts, { project_id, version_id, downloads: byVersion.get(key)?.length ?? 0 })
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
