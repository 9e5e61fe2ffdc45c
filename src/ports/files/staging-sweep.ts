// Each server sweeps its own staging folder, because staged uploads are on its local disk. A job would run on one machine
// only.
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

/** Maximum duration of an upload. */
const AGE_MAX_MS = 6 * HOUR_MS

/** Removes staged files of killed processes, now and every hour until stopped. Logs failures. */
export function startStagingSweep({ files, log, now }: Pick<Deps, 'files' | 'log' | 'now'>): { stop(): Promise<void> } {
  const sweep = async (): Promise<void> => {
    try {
      const removed = await files.sweep({ olderThanMs: AGE_MAX_MS, nowMs: now() })
      if (removed > 0) log.info({ files: { removed } }, 'Removed unfinished uploads of a stopped process')
    } catch (error) {
      log.warn({ err: error }, 'Could not remove unfinished uploads')
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
