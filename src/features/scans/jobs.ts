// Background work of scans.
import { createScanner } from '#scanner/create-scanner.ts'
import { enqueueScan } from './hold-version.ts'
import { judgeVersion, type ScanDeps } from './judge-version.ts'
import { listDueScans } from './queries.ts'

/** Scans that one sweep sets going again. */
const SWEEP_MAX = 500

export const scanJobs = (deps: ScanDeps) => {
  const scanner = createScanner(deps.config.scanner)
  return {
    // Idempotent: only a scan that is due is claimed, and a verdict is taken once.
    'scans.judge-version': async ({ version_id: versionId }: { version_id: string }, signal: AbortSignal) => {
      await judgeVersion(deps, scanner, { versionId, signal })
    },
    // Idempotent: a version has one job at a time.
    'scans.sweep': async () => {
      const due = await listDueScans(deps.db, new Date(deps.now()), SWEEP_MAX)
      await deps.db.transaction().execute(async (tx) => {
        for (const versionId of due) await enqueueScan(tx, versionId)
      })
    },
  }
}
