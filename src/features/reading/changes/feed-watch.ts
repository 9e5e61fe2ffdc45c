// Looks for changes of the feed on behalf of all streams of a process.
import type { Deps } from '#ports/deps.ts'
import { numberChanges, readNewest } from './queries.ts'

const POLL_MS = 1_000

export type FeedWatch = ReturnType<typeof createFeedWatch>

/** `onPoll` is called before each look. A watch without waiters does nothing. */
export function createFeedWatch({ db, log }: Pick<Deps, 'db' | 'log'>, onPoll: () => void) {
  /** Each waiter with the newest cursor that it knows. */
  const waiting = new Map<() => void, string>()
  let timer: NodeJS.Timeout | undefined
  let isPolling = false

  /** Errors of the database are temporary, so the waiters stay. */
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    try {
      onPoll()
      while (await numberChanges(db));
      const newest = await readNewest(db)
      for (const [wake, known] of waiting) if (known !== newest) wake()
    } catch (err) {
      log.warn({ err }, 'Could not read the change feed for its streams')
    } finally {
      isPolling = false
    }
  }

  return {
    /** Resolves when the newest cursor is not `known`, when the signal ends, or after `ms`. */
    nextChange(known: string, signal: AbortSignal, ms: number): Promise<void> {
      timer ??= setInterval(() => void poll(), POLL_MS).unref()
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(limit)
          signal.removeEventListener('abort', wake)
          waiting.delete(wake)
          if (waiting.size === 0) {
            clearInterval(timer)
            timer = undefined
          }
          resolve()
        }
        const limit = setTimeout(wake, ms)
        waiting.set(wake, known)
        signal.addEventListener('abort', wake)
        if (signal.aborted) wake()
      })
    },
  }
}
