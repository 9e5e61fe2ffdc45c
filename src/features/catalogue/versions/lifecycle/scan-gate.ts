// A version whose files the operator's scanner has not judged, or has put into quarantine, has the status `unknown`, which
// only members and moderators see, and keeps the status it is to have as requested status. So no rule about who sees a
// version depends on scans.

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

/** The columns of a version that a status brings with it. */
export type HeldStatus = {
  status: VersionStatus
  requested_status: SettableVersionStatus | null
  scheduled_at: null
}

/** The status of a version that waits for its verdict. */
export const HELD = 'unknown'

/** Long enough that the clocks of two processes agree that it is due. */
const CLOCK_SKEW_MS = MINUTE_MS

/**
 * The status that a version takes when it is to have `wanted`: that one, or for a public one the hold, until the
 * scanner has judged. A version that is public already stays so; a quarantine also holds when no scanner is set up any more.
 */
export async function admitStatus(
  tx: Tx,
  { id, from, wanted }: { id: string; from: VersionStatus; wanted: VersionStatus },
  { scanner, now }: ScanGate,
): Promise<HeldStatus> {
  const open = { status: wanted, requested_status: null, scheduled_at: null }
  if (!isPublicVersionStatus(wanted) || isPublicVersionStatus(from)) return open
  const scan = await tx.selectFrom('version_scan').select('state').where('version_id', '=', id).executeTakeFirst()
  if (scan === undefined && scanner.kind === 'none') return open
  if (scan === undefined) await requestScan(tx, id, { now, shownBefore: false })
  else if (scan.state === 'pass' || scan.state === 'warn') return open
  return { status: HELD, requested_status: wanted, scheduled_at: null }
}

/** Where a version is made: the status it begins with; its files go to the scanner whatever it is. */
export function firstStatus(wanted: VersionStatus, scanner: ScannerConfig): Omit<HeldStatus, 'scheduled_at'> {
  return scanner.kind !== 'none' && isPublicVersionStatus(wanted)
    ? { status: HELD, requested_status: wanted }
    : { status: wanted, requested_status: null }
}

/** After files were added to a version: they are judged, and until then it cannot be seen. */
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

/** Hides a public version until its verdict; it returns to the same status. Others stay as they are. */
export async function hideVersion(tx: Tx, { id, status }: { id: string; status: string }): Promise<void> {
  if (!isPublicVersionStatus(status)) return
  await tx.updateTable('version').set({ status: HELD, requested_status: status }).where('id', '=', id).execute()
}

/** After a file was taken away: without it a quarantined version may be harmless. */
export async function repeatIfQuarantined(tx: Tx, versionId: string, now: number): Promise<void> {
  const scan = await tx
    .selectFrom('version_scan')
    .select('state')
    .where('version_id', '=', versionId)
    .where('state', '=', 'quarantine')
    .executeTakeFirst()
  if (scan !== undefined) await requestScan(tx, versionId, { now, shownBefore: false })
}

/** Asks for a verdict on the files as they are now; a verdict on an earlier set no longer counts. */
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
      conflict.column('version_id').doUpdateSet({
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
