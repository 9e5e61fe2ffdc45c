// The job of scheduled backups.
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/** Runs a command of Depot in a process of its own. */
type RunCommand = (words: readonly string[], signal: AbortSignal) => Promise<void>

export const backupJobs = ({ config }: Pick<Deps, 'config'>, runCommand: RunCommand) => ({
  // Not idempotent, but harmless: a second run makes another backup, which copies no file again.
  'backups.make': async (_payload: Jobs['backups.make'], signal: AbortSignal): Promise<void> => {
    if (config.backup.target !== undefined) await runCommand(['backup'], signal)
  },
})
