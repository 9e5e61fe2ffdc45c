// Lets moderators override the scanner or repeat a scan.

import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requestScan } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { releaseHeldVersion } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { lockScan } from './queries.ts'

/**
 * Releases a version that waits for its verdict or is in quarantine. The findings of the scanner remain stored.
 * @throws ApiError 404 if there is no such version or scan, `invalid_input` if the scanner does not hold it back.
 */
export async function overrideScan(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  versionId: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, versionId)
    const scan = await lockScan(tx, versionId)
    if (locked === undefined || scan === undefined) throw notFound('scan')
    if (scan.state === 'pass' || scan.state === 'warn')
      throw invalidInput('The scanner does not hold this version back')
    await tx
      .updateTable('version_scan')
      .set({ state: 'pass', released_by: viewer.id, finished: new Date(deps.now()) })
      .where('version_id', '=', versionId)
      .execute()
    await recordAudit(tx, {
      action: 'version.scan_overruled',
      actor: actorOf(viewer),
      subject: { kind: 'version', id: versionId },
      details: { from: scan.state },
    })
    await releaseHeldVersion(tx, changed, locked, { isNews: !scan.shown_before, now: deps.now() })
  })
}

/**
 * Requests another scan, or the first scan of a version. A public version stays public until the verdict.
 * @throws ApiError 404 if the version does not exist, `invalid_input` if no scanner is configured.
 */
export async function repeatScan(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'config'>,
  versionId: string,
): Promise<void> {
  await transaction(deps, async (tx) => {
    const locked = await lockVersion(tx, versionId)
    if (locked === undefined) throw notFound('version')
    if (deps.config.scanner.kind === 'none') throw invalidInput('No scanner is configured')
    const shownBefore = isPublicVersionStatus(locked.version.status)
    await requestScan(tx, versionId, { now: deps.now(), shownBefore })
  })
}
