// Background jobs of versions: broken dependencies, impact reports, files to delete, and expired drafts.

import { breakageJobs } from '#features/catalogue/breakage/jobs.ts'
import { DAY_MS } from '#lib/time.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { sweepClaims } from '#ports/files/claims.ts'
import { removeUnlessHeld } from '#ports/files/removals.ts'
import { expireDrafts } from './drafts/expire-drafts.ts'
import { computeReport, deleteOldReports } from './impact/report-impact.ts'
import { expireUploads } from './uploads/expire-uploads.ts'
import { shortenAbandonedParts } from './uploads/shorten-part.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'files.remove': { keys: string[] }
    'files.sweep': NoPayload
    'impact.compute': { report_id: string }
    'uploads.expire': NoPayload
    'versions.expire-drafts': NoPayload
  }
}

export const versionJobs = (deps: Pick<Deps, 'db' | 'files' | 'cache' | 'now' | 'log' | 'metrics'>) => ({
  ...breakageJobs(deps),
  // Idempotent: computes the same report again. Deletes the reports of earlier days.
  'impact.compute': async ({ report_id }: { report_id: string }) => {
    await computeReport(deps.db, report_id)
    await deleteOldReports(deps.db, new Date(deps.now() - DAY_MS))
  },
  // Idempotent: deleting a missing file is not an error.
  'files.remove': async ({ keys }: { keys: string[] }) => removeUnlessHeld(deps, keys),
  // Idempotent: deletes the files of expired claims.
  'files.sweep': job({ hourly: 27, changesContent: true }, async () => sweepClaims(deps)),
  // Idempotent: deletes the uploads that are expired when the job runs.
  'uploads.expire': job({ hourly: 52, changesContent: true }, async (_payload, signal) => {
    await shortenAbandonedParts(deps, signal)
    await expireUploads(deps, signal)
  }),
  // Idempotent: deletes the drafts that are expired when the job runs.
  'versions.expire-drafts': job({ hourly: 57, changesContent: true }, async (_payload, signal) =>
    expireDrafts(deps, signal),
  ),
})
