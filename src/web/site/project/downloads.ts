// Loads the download statistics of a project.
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVersionNumbers } from '#features/catalogue/versions/queries.ts'
import type { DownloadSeries } from '#features/operations/analytics/views.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'
import type { Mark } from '#platform/html/plots/line-plot.ts'
import type { PageRequest } from '#web/kit/request.ts'

/** Time spans of the statistics, in days. */
export const SPANS = [30, 90, 365] as const
export type Span = (typeof SPANS)[number]
export const DEFAULT_SPAN = 90

/** Maximum number of releases that a plot marks: the newest ones. */
const MARKS_MAX = 40

export type Downloads = {
  span: Span
  series: DownloadSeries
  releases: Mark[]
  /** Version numbers by version ID. */
  numbers: ReadonlyMap<string, string>
}

/** Returns `private` if the viewer cannot see the statistics, and `failed` if the analytics store is unavailable. */
export async function loadDownloads(
  { deps, statistics }: PageRequest,
  { project }: { project: CachedProject },
  viewer: Viewer | null,
  span: Span,
): Promise<Downloads | 'private' | 'failed'> {
  const result = await statistics.read(project, viewer, span).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status < 500) throw error
    deps.log.warn({ err: error, project_id: project.id }, 'Could not read the statistics of a project')
  })
  if (result === undefined) return 'failed'
  if (result.series === null) return 'private'
  const rows = await listVersionNumbers(deps.db, project.id)
  return {
    span,
    series: result.series,
    releases: rows
      .slice(0, MARKS_MAX)
      .map(({ version_number, date_published }) => ({ at: date_published, label: version_number })),
    numbers: new Map(rows.map(({ id, version_number }) => [id, version_number])),
  }
}
