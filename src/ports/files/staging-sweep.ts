// Staged uploads lie on the disk of the process that took them, so each server sweeps its own folder: a job would run on
// one machine only.
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

/** An upload takes less than this. */
const AGE_MAX_MS = 6 * HOUR_MS

/** Removes staged files that a killed process left, now and every hour until stopped. What fails is logged. */
export function startStagingSweep({ files, log, now }: Pick<Deps, 'files' | 'log' | 'now'>): { stop(): Promise<void> } {
  const sweep = async (): Promise<void> => {
    try {
      const removed = await files.sweep({ olderThanMs: AGE_MAX_MS, nowMs: now() })
      if (removed > 0) log.info({ files: { removed } }, 'Removed uploads that a process had left unfinished')
    } catch (error) {
      log.warn({ err: error }, 'Unfinished uploads could not be removed')
    }
  }
  let running = sweep()
  const timer = setInterval(() => {
    running = running.then(sweep)
  }, HOUR_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
