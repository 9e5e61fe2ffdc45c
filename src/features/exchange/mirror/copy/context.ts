// The state of a run of a mirror: the source, its row, its options and its counts.
import type { Deps } from '#ports/deps.ts'
import type { MirrorRow } from '../queries.ts'
import type { Source } from '../source/source.ts'

export type MirrorReport = {
  projects: number
  versions: number
  files: number
  /** Versions, projects and images that were not copied. */
  skipped: number
  /** Files whose content is not what the source describes. */
  mismatches: number
  /** Files that could not be downloaded. */
  failed: number
  requests: number
  cursor: string | null
}

export type MirrorRun = {
  deps: Deps
  source: Source
  mirror: MirrorRow
  /** The organization that owns new copies, and its owner, who is the author of their versions. */
  owner: { organizationId: string; accountId: string }
  withFiles: boolean
  /** Bytes of files that this run can still download. */
  budget: { bytes: number }
  isDryRun: boolean
  report: MirrorReport
  /** Reports what was left out. */
  warn: (message: string) => void
}
