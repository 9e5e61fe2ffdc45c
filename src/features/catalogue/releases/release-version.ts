import { admitStatus } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { showVersion } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isDue, type ReleaseDeps } from './queries.ts'

/**
 * A scheduled version takes the status that was requested. It counts as published from the moment that was set; where
 * its files are not judged yet, it waits for the scanner. Returns whether this call released it; false when it is not
 * due, or no longer scheduled.
 */
export async function releaseVersion(deps: ReleaseDeps, id: string): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    const wanted = locked?.version.requested_status ?? null
    if (locked === undefined || wanted === null || !isDue(locked.version, deps.now())) return false
    const { version } = locked
    const datePublished = version.scheduled_at ?? new Date(deps.now())
    const gate = { scanner: deps.config.scanner, now: deps.now() }
    const admitted = await admitStatus(tx, { id, from: version.status, wanted }, gate)
    if (admitted.status === wanted) {
      await showVersion(tx, changed, locked, { status: wanted, datePublished, isNews: true, now: deps.now() })
      return true
    }
    const held = { ...admitted, date_published: datePublished }
    await tx.updateTable('version').set(held).where('id', '=', id).execute()
    changed.add('version', id)
    return true
  })
}
