import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { releaseHeldVersion } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { lockScan } from './queries.ts'

/**
 * Lets a version pass that waits for its verdict or is in quarantine; the scanner's findings stay on record.
 * @throws ApiError 404 without a version or a scan, `invalid_input` when it is not held.
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
    if (scan.state === 'pass' || scan.state === 'warn') throw invalidInput('The scanner does not hold this version')
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
