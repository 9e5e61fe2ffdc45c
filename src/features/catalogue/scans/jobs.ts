// Background jobs that scan versions. The table of scans is the queue; a job only signals that a scan might be due.
import { job } from '#platform/jobs/job.ts'
import { createScanner } from '#ports/scanner/create-scanner.ts'
import { listDueScans } from './queries.ts'
import { type ScanDeps, scanVersion } from './scan-version.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'scans.judge': NoPayload
  }
}

/** Concurrent scans per process, so that a slow scanner does not block other jobs. */
const CONCURRENT_SCANS = 2
/** Maximum number of versions per job; the job that is scheduled every minute continues with the rest. */
const VERSIONS_PER_JOB = 1000

export const scanJobs = (deps: ScanDeps) => {
  const scanner = createScanner(deps.config.scanner)
  let running = 0
  let calls = 0
  return {
    // Idempotent: only one job can claim a due scan, and only one verdict is stored.
    'scans.judge': job({ everyMinutes: 1, changesContent: true }, async (_payload, signal) => {
      calls += 1
      // The running jobs will find the scan of this call in the table.
      if (running >= CONCURRENT_SCANS) return
      running += 1
      try {
        for (let count = 0; count < VERSIONS_PER_JOB && !signal.aborted; count += 1) {
          const callsBefore = calls
          const [versionId] = await listDueScans(deps.db, new Date(deps.now()), 1)
          if (versionId !== undefined) await scanVersion(deps, scanner, { versionId, signal })
          // A call that arrived after the table was read might refer to a newer scan.
          else if (calls === callsBefore) return
        }
      } finally {
        running -= 1
      }
    }),
  }
}
