// What a moderator may do about a scan: let the version pass, or have it judged again.
import { transaction } from '#cache/transaction.ts'
import { requestScan } from '#features/versions/lifecycle/scan-gate.ts'
import { isPublicVersionStatus } from '#features/versions/status.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { lockAll, showHeld } from './judge-version.ts'
import { lockScan } from './queries.ts'

type OverrideDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/**
 * Lets a version pass that waits for its verdict or is in quarantine; what the scanner said stays on record.
 * @throws ApiError 404 without a version or a scan, `invalid_input` when it is not held.
 */
export async function releaseVersion(deps: OverrideDeps, viewer: Viewer, versionId: string): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const locked = await lockAll(tx, versionId)
    const scan = await lockScan(tx, versionId)
    if (locked === undefined || scan === undefined) throw notFound('scan')
    if (scan.state === 'pass' || scan.state === 'warn') throw invalidInput('The scanner does not hold this version')
    await tx
      .updateTable('version_scan')
      .set({ state: 'pass', released_by: viewer.id, finished: new Date(deps.now()) })
      .where('version_id', '=', versionId)
      .execute()
    await showHeld(tx, changed, { ...locked, isNews: !scan.shown_before, now: deps.now() })
  })
}

/**
 * Asks the scanner again, also about a version that nobody was asked about. One that is public stays so until the
 * verdict.
 * @throws ApiError 404 without a version, `invalid_input` without a scanner.
 */
export async function repeatScan(deps: OverrideDeps, versionId: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const locked = await lockAll(tx, versionId)
    if (locked === undefined) throw notFound('version')
    if (deps.config.scanner.kind === 'none') throw invalidInput('No scanner is set up')
    const shownBefore = isPublicVersionStatus(locked.version.status)
    await requestScan(tx, versionId, { now: deps.now(), shownBefore })
  })
}
