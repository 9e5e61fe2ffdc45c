// Deletes expired uploads and drafts, unused files, old audit entries and images of other hosts beyond the size of their cache. The jobs of a server do the same at their times, except for unused files.

import { sql } from 'kysely'
import { auditJobs } from '#features/basics/audit/jobs.ts'
import { listExpired, sweepExternalImages } from '#features/basics/external-images/jobs.ts'
import { expireDrafts } from '#features/catalogue/versions/drafts/expire-drafts.ts'
import { expireUploads } from '#features/catalogue/versions/uploads/expire-uploads.ts'
import { listUnusedFiles } from '#features/operation/backup/verify-instance.ts'
import { DAY_MS } from '#lib/time.ts'
import { withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { sweepClaims } from '#ports/files/claims.ts'

type CleanDeps = Pick<Deps, 'db' | 'pool' | 'cache' | 'files' | 'config' | 'now' | 'log' | 'metrics'>

/** Numbers of deleted items; in a dry run, of items that would be deleted. */
export type CleanReport = {
  uploads: number
  drafts: number
  claims: number
  unused_files: number
  unused_bytes: number
  audit_entries: number
  external_images: number
}

type Rows = Omit<CleanReport, 'unused_files' | 'unused_bytes' | 'external_images'>

/** Maximum number of images of other hosts of a run. */
const IMAGES_MAX = 100_000

/** @param isDryRun whether only to count */
export async function cleanInstance(
  deps: CleanDeps,
  { isDryRun, signal }: { isDryRun: boolean; signal: AbortSignal },
): Promise<CleanReport> {
  const counted = { ...(await countRows(deps)), external_images: (await listExpired(deps, IMAGES_MAX)).length }
  if (!isDryRun) {
    await expireUploads(deps, signal)
    await expireDrafts(deps, signal)
    await sweepClaims(deps)
    await auditJobs(deps)['audit.expire']({}, signal)
    await sweepExternalImages(deps, signal)
  }
  return { ...counted, ...(await cleanFiles(deps, isDryRun)) }
}

async function countRows({ db, config, now }: CleanDeps): Promise<Rows> {
  const at = new Date(now())
  const { retentionDays } = config.audit
  const oldest = retentionDays > 0 ? new Date(now() - retentionDays * DAY_MS) : new Date(0)
  const { rows } = await sql<Rows>`select
    (select count(*)::int from upload where expires <= ${at} and coalesce(lease_until < clock_timestamp(), true)) as uploads,
    (select count(*)::int from version where draft_expires <= ${at}) as drafts,
    (select count(*)::int from upload_claim where created < now() - interval '6 hours') as claims,
    (select count(*)::int from audit_entry where at < ${oldest}) as audit_entries`.execute(db)
  const [counted] = rows
  if (counted === undefined) throw new Error('The count returned no row')
  return counted
}

async function cleanFiles(
  { pool, files }: CleanDeps,
  isDryRun: boolean,
): Promise<Pick<CleanReport, 'unused_files' | 'unused_bytes'>> {
  const report = { unused_files: 0, unused_bytes: 0 }
  return withConnection(pool, 'depot-clean', async (client) => {
    for await (const { key, sizeBytes } of listUnusedFiles({ files }, client)) {
      if (!isDryRun) await files.remove(key)
      report.unused_files += 1
      report.unused_bytes += sizeBytes
    }
    return report
  })
}
