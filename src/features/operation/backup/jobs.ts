// The job of scheduled backups.
import { job } from '#platform/jobs/job.ts'
import { enqueue, type Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { finishRestore } from './restore-backup.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'backups.finish-restore': { is_quiet?: boolean; is_move?: boolean }
    'backups.make': NoPayload
  }
}

type JobDeps = Pick<Deps, 'config' | 'pool' | 'db' | 'cache' | 'analytics' | 'commands' | 'log'>

export const backupJobs = (deps: JobDeps) => ({
  // Not idempotent, but harmless: a second run makes another backup, which copies no file again.
  'backups.make': job({ ...deps.config.backup.target }, async (_payload, signal) => {
    if (deps.config.backup.target === undefined) return
    await deps.commands.run(['backup'], signal)
    // Operators see the new backup.
    await deps.db.transaction().execute((tx) => enqueue(tx, 'backups.list', {}, { jobKey: 'backups.list' }))
  }),

  // A restore that was killed after its commit. Idempotent: each step can be repeated.
  'backups.finish-restore': (payload: Jobs['backups.finish-restore']): Promise<void> => finishRestore(deps, payload),
})
