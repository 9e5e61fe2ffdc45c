import { type Caller, originOf } from '#features/operations/analytics/ingest/origin.ts'
import { parseReferrer } from '#features/operations/analytics/ingest/visited-page.ts'
import type { VisitorCaps } from '#features/operations/analytics/ingest/visitor-caps.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { DownloadEvent } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'

export type DownloadDeps = Deps & { caps: VisitorCaps }

type Download = {
  projectId: string
  versionId: string
  caller: Caller
  /** Whether an account downloads. */
  signedIn: boolean
  /** When it was, in whole milliseconds; now where that is not said. */
  recordedAt?: number | undefined
  /** What the client says of the download; a hint that is none is dropped, never the download. */
  hints: Readonly<Record<string, unknown>>
}

const REASONS = ['standalone', 'dependency', 'modpack', 'update']

/** Records one download of a version, unless the address has had its share of the project: then false. */
export async function recordDownload(deps: DownloadDeps, download: Download): Promise<boolean> {
  const { projectId, versionId, caller, signedIn, recordedAt, hints } = download
  if (!(await deps.caps.countsDownload(caller.address, projectId))) return false
  const { referer } = caller.headers
  const origin = originOf(deps, caller)
  deps.events.add('download', {
    ...origin,
    recorded_at: recordedAt ?? origin.recorded_at,
    ...parseReferrer(typeof referer === 'string' ? referer : undefined),
    ...knownHints(deps.taxonomy, hints),
    project_id: projectId,
    version_id: versionId,
    monetized: signedIn,
  })
  recordEvent(deps, 'file.downloaded', { project_id: projectId, version_id: versionId })
  return true
}

function knownHints(
  taxonomy: Taxonomy,
  { reason, loader, game_version }: Download['hints'],
): Pick<DownloadEvent, 'reason' | 'loader' | 'game_version'> {
  const gameVersions = taxonomy.fields.get('game_versions')?.enumValues
  return {
    reason: wordOf(reason, (word) => REASONS.includes(word)),
    loader: wordOf(loader, (word) => taxonomy.loaders.has(word)),
    game_version: wordOf(game_version, (word) => gameVersions?.has(word) === true),
  }
}

function wordOf(value: unknown, isKnown: (word: string) => boolean): string {
  return typeof value === 'string' && isKnown(value) ? value : ''
}
