import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import { requestScan } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Asks the scanner again, also about a version that was never scanned. One that is public stays so until the verdict.
 * @throws ApiError 404 without a version, `invalid_input` without a scanner.
 */
export async function repeatScan(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'config'>,
  versionId: string,
): Promise<void> {
  await transaction(deps, async (tx) => {
    const locked = await lockVersion(tx, versionId)
    if (locked === undefined) throw notFound('version')
    if (deps.config.scanner.kind === 'none') throw invalidInput('No scanner is set up')
    const shownBefore = isPublicVersionStatus(locked.version.status)
    await requestScan(tx, versionId, { now: deps.now(), shownBefore })
  })
}
