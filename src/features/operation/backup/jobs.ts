// The job of scheduled backups.
import { job } from '#platform/jobs/job.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { finishRestore } from './restore-backup.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'backups.finish-restore': { is_quiet?: boolean; is_move?: boolean }
    'backups.make': NoPayload
  }
}

/** Runs a command of Depot in a separate process. */
type RunCommand = (words: readonly string[], signal: AbortSignal) => Promise<void>

type JobDeps = Pick<Deps, 'config' | 'pool' | 'db' | 'cache' | 'analytics' | 'log'>

export const backupJobs = (deps: JobDeps, runCommand: RunCommand) => ({
  // Not idempotent, but harmless: a second run makes another backup, which copies no file again.
  'backups.make': job({ ...deps.config.backup.target }, async (_payload, signal) => {
    if (deps.config.backup.target !== undefined) await runCommand(['backup'], signal)
  }),

  // A restore that was killed after its commit. Idempotent: each step can be repeated.
  'backups.finish-restore': (payload: Jobs['backups.finish-restore']): Promise<void> => finishRestore(deps, payload),
})
