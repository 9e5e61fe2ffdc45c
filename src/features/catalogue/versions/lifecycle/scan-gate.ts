// Hides versions until their files are scanned. A version that waits for the scan or is in quarantine has the status
// `unknown`, which only members and moderators can see; `requested_status` is the status that it takes afterwards.
// Visibility rules therefore depend only on the status, never on scans.

import { sql } from 'kysely'
import {
  isPublicVersionStatus,
  type SettableVersionStatus,
  type VersionStatus,
} from '#features/basics/access/version-status.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { ScannerConfig } from '#platform/config/config.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'

export type ScanGate = { scanner: ScannerConfig; now: number }

/** Columns that are written together with a version's status. */
export type HeldStatus = { status: VersionStatus; requested_status: SettableVersionStatus | null; scheduled_at: null }

/** Status of a version that waits for its scan or is in quarantine. */
export const HELD = 'unknown'

/** Makes a requested scan due immediately, even for a process whose clock is slow. */
const CLOCK_SKEW_MS = MINUTE_MS

/**
 * Returns `HELD` if the status `wanted` is public and the files have not passed the scan, otherwise `wanted`. A public
 * version stays public. A quarantine remains in effect even if the operator removed the scanner.
 */
export async function admitStatus(
  tx: Tx,
  { id, from, wanted }: { id: string; from: VersionStatus; wanted: VersionStatus },
  { scanner, now }: ScanGate,
): Promise<HeldStatus> {
  const admitted = { status: wanted, requested_status: null, scheduled_at: null }
  if (!isPublicVersionStatus(wanted) || isPublicVersionStatus(from)) return admitted
  const scan = await tx.selectFrom('version_scan').select('state').where('version_id', '=', id).executeTakeFirst()
  if (scan === undefined && scanner.kind === 'none') return admitted
  if (scan === undefined) await requestScan(tx, id, { now, shownBefore: false })
  else if (scan.state === 'pass' || scan.state === 'warn') return admitted
  return { status: HELD, requested_status: wanted, scheduled_at: null }
}

/** Returns the initial status of a version. */
export function firstStatus(wanted: VersionStatus, scanner: ScannerConfig): Omit<HeldStatus, 'scheduled_at'> {
  return scanner.kind !== 'none' && isPublicVersionStatus(wanted)
    ? { status: HELD, requested_status: wanted }
    : { status: wanted, requested_status: null }
}

/** Requests a scan after files were added, and hides the version until then. */
export async function holdForScan(
  tx: Tx,
  lockedVersion: { id: string; status: string },
  { scanner, now }: ScanGate,
): Promise<void> {
  if (scanner.kind === 'none') return
  const { id, status } = lockedVersion
  await requestScan(tx, id, { now, shownBefore: isPublicVersionStatus(status) })
  await hideVersion(tx, lockedVersion)
}

/** Hides a public version; after the scan, it returns to its present status. Other versions stay unchanged. */
export async function hideVersion(tx: Tx, { id, status }: { id: string; status: string }): Promise<void> {
  if (!isPublicVersionStatus(status)) return
  await tx.updateTable('version').set({ status: HELD, requested_status: status }).where('id', '=', id).execute()
}

/** Requests another scan of a quarantined version after a file was deleted, because the rest might be harmless. */
export async function repeatIfQuarantined(tx: Tx, versionId: string, now: number): Promise<void> {
  const scan = await tx
    .selectFrom('version_scan')
    .select('state')
    .where('version_id', '=', versionId)
    .where('state', '=', 'quarantine')
    .executeTakeFirst()
  if (scan !== undefined) await requestScan(tx, versionId, { now, shownBefore: false })
}

/** Requests a scan of the present files. A verdict on an earlier set of files is then ignored. */
export async function requestScan(
  tx: Tx,
  versionId: string,
  { now, shownBefore }: { now: number; shownBefore: boolean },
): Promise<void> {
  const at = new Date(now)
  const due = new Date(now - CLOCK_SKEW_MS)
  await tx
    .insertInto('version_scan')
    .values({ version_id: versionId, requested: at, next_attempt: due, shown_before: shownBefore })
    .onConflict((conflict) =>
      conflict
        .column('version_id')
        .doUpdateSet({
          state: 'pending',
          round: sql`version_scan.round + 1`,
          shown_before: sql`version_scan.shown_before or excluded.shown_before`,
          reason: null,
          findings: '[]',
          attempts: 0,
          next_attempt: due,
          last_error: null,
          released_by: null,
          requested: at,
          finished: null,
        }),
    )
    .execute()
  await enqueue(tx, 'scans.judge', {}, { jobKey: 'scans.judge', maxAttempts: 3 })
}
