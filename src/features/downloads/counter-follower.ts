// Keeps the download counters a moment behind the store of events, for as long as the process lives.
import type { AnalyticsStore } from '#analytics-store/analytics-store.ts'
import type { FlushedDownloads } from '#analytics-store/buffer.ts'
import { catchUp, type LedgerDeps } from './counter-ledger.ts'

export type CounterFollower = {
  /** For the buffer's `onFlushed`. Rejects when the database did not take it in; that is tried again by itself. */
  follow(flushed: FlushedDownloads): Promise<void>
  /** Takes in what an earlier process left. Never rejects. */
  catchUp(): Promise<void>
  /** Waits for what is going on; nothing is tried again afterwards. */
  close(): Promise<void>
}

const RETRY_MS = 5_000

export function createCounterFollower(deps: LedgerDeps & { store: AnalyticsStore }): CounterFollower {
  let tail: Promise<unknown> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  let isClosed = false

  /** One at a time: two that take in the same batches would only wait for each other in the database. */
  function run(flushed?: FlushedDownloads): Promise<void> {
    const done = tail.then(() => catchUp(deps, flushed))
    tail = done.catch(tryAgainLater)
    return done
  }

  function tryAgainLater(): void {
    if (isClosed || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      void catchUpQuietly()
    }, RETRY_MS)
    retry.unref()
  }

  async function catchUpQuietly(): Promise<void> {
    try {
      await run()
    } catch (error) {
      deps.log.warn({ err: error }, 'Download counters could not follow; they try again')
    }
  }

  return {
    follow: run,
    catchUp: catchUpQuietly,
    async close() {
      isClosed = true
      clearTimeout(retry)
      await tail
    },
  }
}
