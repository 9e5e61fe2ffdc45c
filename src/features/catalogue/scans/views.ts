// Response schemas of scans.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { VERDICTS } from '#ports/scanner/scanner.ts'
import type { Finding, ListedScan, ScanRow } from './queries.ts'

/** States of a scan. */
export const SCAN_STATES = ['pending', ...VERDICTS] as const

const scan = {
  version_id: Type.String(),
  reason: Nullable(Type.String({ description: 'Reason given by the scanner' })),
  files: Type.Array(
    Type.Object({
      file_id: Type.String(),
      filename: Type.String(),
      verdict: Type.Enum([...VERDICTS]),
      reason: Nullable(Type.String()),
    }),
  ),
  released: Type.Boolean({ description: 'Whether a moderator released the version and overrode the scanner' }),
  requested: Nullable(Timestamp),
  finished: Nullable(Timestamp),
}

export const ScanView = NamedObject('VersionScan', {
  ...scan,
  state: Type.Enum(['none', ...SCAN_STATES], {
    description: '`none`: never scanned; `pending` and `quarantine`: the version is hidden',
  }),
})
export type ScanView = Static<typeof ScanView>

const ListedScanView = NamedObject('ListedVersionScan', {
  ...scan,
  state: Type.Enum([...SCAN_STATES]),
  project_id: Type.String(),
  project_name: Type.String(),
  project_slug: Type.String(),
  version_number: Type.String(),
  version_status: Type.String(),
  attempts: Type.Integer({ description: 'Number of attempts that ended without a verdict' }),
  last_error: Nullable(Type.String({ description: 'Error of the last attempt' })),
})

export const ScanListView = NamedObject('VersionScanList', {
  total: Type.Integer({ description: 'Number of scans in this state that match the filter' }),
  counts: Type.Object(
    { pending: Type.Integer(), pass: Type.Integer(), warn: Type.Integer(), quarantine: Type.Integer() },
    { description: 'Number of matching scans in each state' },
  ),
  scans: Type.Array(ListedScanView),
})

/** Returns the view for members of the project; its state is `none` if there is no scan. */
export function toScanView(versionId: string, row: ScanRow | undefined): ScanView {
  if (row === undefined) {
    const nothing = { reason: null, files: [], released: false, requested: null, finished: null }
    return { version_id: versionId, state: 'none', ...nothing }
  }
  return { ...toCommonView(row), state: row.state }
}

export function toListedScanView(row: ListedScan): Static<typeof ListedScanView> {
  const { state, project_id, project_name, project_slug, version_number, version_status, attempts, last_error } = row
  const project = { project_id, project_name, project_slug }
  return { ...toCommonView(row), ...project, state, version_number, version_status, attempts, last_error }
}

function toCommonView(row: ScanRow) {
  return {
    version_id: row.version_id,
    reason: row.reason,
    files: row.findings satisfies Finding[],
    released: row.released_by !== null,
    requested: row.requested.toISOString(),
    finished: row.finished?.toISOString() ?? null,
  }
}
