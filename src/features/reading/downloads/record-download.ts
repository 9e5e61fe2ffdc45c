import { type Caller, originOf } from '#features/reading/analytics/ingest/origin.ts'
import { parseReferrer } from '#features/reading/analytics/ingest/visited-page.ts'
import type { VisitorCaps } from '#features/reading/analytics/ingest/visitor-caps.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { DownloadEvent } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

export type DownloadDeps = Deps & { caps: VisitorCaps }

type Download = {
  projectId: string
  versionId: string
  caller: Caller
  /** Whether the client is signed in. */
  signedIn: boolean
  /** Time in whole milliseconds. Default: now */
  recordedAt?: number | undefined
  /** Details from the client. An invalid hint is ignored, and the download still counts. */
  hints: Readonly<Record<string, unknown>>
}

const REASONS = ['standalone', 'dependency', 'modpack', 'update']

/** Records a download of a version. Returns false if the IP address has reached its cap for the project. */
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
    reason: textIf(reason, (text) => REASONS.includes(text)),
    loader: textIf(loader, (text) => taxonomy.loaders.has(text)),
    game_version: textIf(game_version, (text) => gameVersions?.has(text) === true),
  }
}

function textIf(value: unknown, isKnown: (text: string) => boolean): string {
  return typeof value === 'string' && isKnown(value) ? value : ''
}
