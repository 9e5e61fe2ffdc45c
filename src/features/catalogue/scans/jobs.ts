// Background work of scans. The table of scans is the queue: a job only says that something may be due.
import { createScanner } from '#ports/scanner/create-scanner.ts'
import { listDueScans } from './queries.ts'
import { type ScanDeps, scanVersion } from './scan-version.ts'

/** In one process, so that a slow scanner leaves room for other jobs. */
const SCANS_AT_ONCE = 2
/** Versions that one job judges before it ends; the schedule of each minute goes on with the rest. */
const VERSIONS_PER_JOB = 1000

export const scanJobs = (deps: ScanDeps) => {
  const scanner = createScanner(deps.config.scanner)
  let atWork = 0
  let calls = 0
  return {
    // Idempotent: only what is due is claimed, by one job, and a verdict is taken once.
    'scans.judge': async (_payload: Record<string, never>, signal: AbortSignal): Promise<void> => {
      calls += 1
      // Those at work find in the table what this call is about.
      if (atWork >= SCANS_AT_ONCE) return
      atWork += 1
      try {
        for (let count = 0; count < VERSIONS_PER_JOB && !signal.aborted; count += 1) {
          const callsBefore = calls
          const [versionId] = await listDueScans(deps.db, new Date(deps.now()), 1)
          if (versionId !== undefined) await scanVersion(deps, scanner, { versionId, signal })
          // A call that came after the look into the table may be about something newer.
          else if (calls === callsBefore) return
        }
      } finally {
        atWork -= 1
      }
    },
  }
}
