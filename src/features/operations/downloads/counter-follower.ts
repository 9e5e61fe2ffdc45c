// Keeps the download counters a moment behind the store of events, for as long as the process lives. Storing never waits
// for it: what the database does not take in now is compared with the store later.

import { MINUTE_MS } from '#lib/time.ts'
import type { AnalyticsStore, Batch, VersionDownloads } from '#ports/analytics-store/analytics-store.ts'
import type { EventSink } from '#ports/analytics-store/buffer.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import type { DownloadEvent, EventKind } from '#ports/analytics-store/events.ts'
import { applyBatches, catchUp, type LedgerDeps } from './counter-ledger.ts'
import { showDownloads } from './show-downloads.ts'

export type CounterFollower = {
  /** The store as a sink of batches, whose downloads are counted once they are stored. */
  sink: EventSink
  /** Takes in what a process that died has left, now and every minute. Rejects for nothing. */
  start(): Promise<void>
  /** Waits for what is going on; nothing is tried again afterwards. */
  close(): Promise<void>
}

type StoredBatch = { id: string; versions: readonly VersionDownloads[]; storedAt: number }

const RETRY_MS = 5_000
const ROUND_MS = MINUTE_MS
/** Batches that wait for the database in memory; of more, and of older ones, the store is asked instead. */
const WAITING_MAX = 1_000
const WAITING_MS_MAX = 10 * MINUTE_MS

export function createCounterFollower(deps: LedgerDeps & { store: AnalyticsStore }): CounterFollower {
  const waiting: StoredBatch[] = []
  let working: Promise<void> | undefined
  /** Whether the store may have what was not taken in. */
  let isBehind = false
  let isShowDue = false
  let showing: Promise<number> | undefined
  let retry: NodeJS.Timeout | undefined
  let show: NodeJS.Timeout | undefined
  let round: NodeJS.Timeout | undefined
  let isClosed = false

  async function append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void> {
    await deps.store.append(kind, batch)
    if (kind !== 'download') return
    const { versions } = countByVersion(batch.events as readonly DownloadEvent[])
    waiting.push({ id: batch.id, versions, storedAt: performance.now() })
    if (waiting.length > WAITING_MAX) leaveToStore()
    void work()
  }

  function leaveToStore(): void {
    waiting.length = 0
    isBehind = true
  }

  /** One at a time. Never rejects. */
  function work(): Promise<void> {
    working ??= takeIn().finally(() => {
      working = undefined
      if (waiting.length > 0) void work()
    })
    return working
  }

  async function takeIn(): Promise<void> {
    const taken = waiting.splice(0)
    try {
      if (taken.some(({ storedAt }) => performance.now() - storedAt > WAITING_MS_MAX)) isBehind = true
      else await applyBatches(deps, new Map(taken.map(({ id, versions }) => [id, versions])))
      showSoon()
      if (!isBehind) return
      isBehind = false
      await catchUp(deps)
      showSoon()
    } catch (error) {
      isBehind = true
      deps.log.warn({ err: error }, 'Download counters could not follow; they try again')
      tryAgainLater()
    }
  }

  function tryAgainLater(): void {
    if (isClosed || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      void work()
    }, RETRY_MS)
    retry.unref()
  }

  function showSoon(): void {
    isShowDue = true
    showLater(0)
  }

  function showLater(ms: number): void {
    if (isClosed || show !== undefined) return
    show = setTimeout(async () => {
      show = undefined
      const pauseMs = isShowDue ? await showNow(false) : 0
      if (isShowDue) showLater(pauseMs)
    }, ms)
    show.unref()
  }

  /** Resolves when it may be done again, in milliseconds. */
  function showNow(now: boolean): Promise<number> {
    const step = showOnce(now).finally(() => {
      if (showing === step) showing = undefined
    })
    showing = step
    return step
  }

  async function showOnce(now: boolean): Promise<number> {
    isShowDue = false
    try {
      const { isAll, pauseMs } = await showDownloads(deps, { now })
      if (!isAll) isShowDue = true
      return pauseMs
    } catch (error) {
      isShowDue = true
      deps.log.warn({ err: error }, 'Downloads could not be shown; they are tried again')
      return RETRY_MS
    }
  }

  async function settled(): Promise<void> {
    // What is under way may have begun before the newest batch came; the round after it takes that.
    await working
    await working
    if (waiting.length > 0 || isBehind) await work()
    await showing
    if (!isShowDue) return
    const pauseMs = await showNow(true)
    if (isShowDue) showLater(pauseMs)
  }

  async function start(): Promise<void> {
    if (isClosed) return
    isBehind = true
    await work()
    round = setTimeout(start, ROUND_MS)
    round.unref()
  }

  return {
    sink: { append, settled },
    start,
    async close() {
      isClosed = true
      for (const timer of [retry, show, round]) clearTimeout(timer)
      await working
    },
  }
}
