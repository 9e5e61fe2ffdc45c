// Updates the download counters from the event store while the process runs. Storing events never waits for the counters: if
// the database is unavailable, the counters are compared with the store later.

import { MINUTE_MS } from '#lib/time.ts'
import type { AnalyticsStore, Batch, VersionDownloads } from '#ports/analytics-store/analytics-store.ts'
import type { EventSink } from '#ports/analytics-store/buffer.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import type { DownloadEvent, EventKind } from '#ports/analytics-store/events.ts'
import { applyBatches, catchUp, type LedgerDeps } from './counter-ledger.ts'
import { showDownloads } from './show-downloads.ts'

type StoredBatch = { id: string; versions: readonly VersionDownloads[]; storedAt: number }

const RETRY_MS = 5_000
const CATCH_UP_MS = MINUTE_MS
/** Limits of the batches that wait in memory for the database. Beyond these, batches are read from the store again. */
const WAITING_MAX = 1_000
const WAITING_MS_MAX = 10 * MINUTE_MS

export class CounterFollower {
  /** Stores batches in the event store, and counts their downloads afterwards. */
  readonly sink: EventSink = {
    append: (kind, batch) => this.#append(kind, batch),
    settled: () => this.#settled(),
  }
  readonly #deps: LedgerDeps & { store: AnalyticsStore }
  readonly #waiting: StoredBatch[] = []
  #counting: Promise<void> | undefined
  /** Whether the store might contain batches that were not counted. */
  #isBehind = false
  #isShowDue = false
  #showing: Promise<number> | undefined
  readonly #timers: Partial<Record<'retry' | 'show' | 'catchUp', NodeJS.Timeout | undefined>> = {}
  #isClosed = false

  constructor(deps: LedgerDeps & { store: AnalyticsStore }) {
    this.#deps = deps
  }

  /** Counts what an earlier process has left, now and every minute. Never rejects. */
  async start(): Promise<void> {
    if (this.#isClosed) return
    this.#isBehind = true
    await this.#count()
    this.#timers.catchUp = setTimeout(() => this.start(), CATCH_UP_MS).unref()
  }

  /** Waits for the current round. There are no retries afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of Object.values(this.#timers)) clearTimeout(timer)
    await this.#counting
  }

  async #append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void> {
    await this.#deps.store.append(kind, batch)
    if (kind !== 'download') return
    const { versions } = countByVersion(batch.events as readonly DownloadEvent[])
    this.#waiting.push({ id: batch.id, versions, storedAt: performance.now() })
    if (this.#waiting.length > WAITING_MAX) {
      this.#waiting.length = 0
      this.#isBehind = true
    }
    void this.#count()
  }

  /** Runs one round at a time. Never rejects. */
  #count(): Promise<void> {
    this.#counting ??= this.#countWaiting().finally(() => {
      this.#counting = undefined
      if (this.#waiting.length > 0) void this.#count()
    })
    return this.#counting
  }

  async #countWaiting(): Promise<void> {
    const batches = this.#waiting.splice(0)
    try {
      if (batches.some(({ storedAt }) => performance.now() - storedAt > WAITING_MS_MAX)) this.#isBehind = true
      else await applyBatches(this.#deps, new Map(batches.map(({ id, versions }) => [id, versions])))
      this.#showSoon()
      if (!this.#isBehind) return
      this.#isBehind = false
      await catchUp(this.#deps)
      this.#showSoon()
    } catch (err) {
      this.#isBehind = true
      this.#deps.log.warn({ err }, 'Could not update the download counters; Depot retries')
      if (this.#isClosed || this.#timers.retry !== undefined) return
      this.#timers.retry = setTimeout(() => {
        this.#timers.retry = undefined
        void this.#count()
      }, RETRY_MS).unref()
    }
  }

  #showSoon(): void {
    this.#isShowDue = true
    this.#showLater(0)
  }

  #showLater(ms: number): void {
    if (this.#isClosed || this.#timers.show !== undefined) return
    this.#timers.show = setTimeout(async () => {
      this.#timers.show = undefined
      const pauseMs = this.#isShowDue ? await this.#show(false) : 0
      if (this.#isShowDue) this.#showLater(pauseMs)
    }, ms).unref()
  }

  /** Resolves with the pause before the next call, in milliseconds. */
  #show(now: boolean): Promise<number> {
    const step = this.#showPending(now).finally(() => {
      if (this.#showing === step) this.#showing = undefined
    })
    this.#showing = step
    return step
  }

  async #showPending(now: boolean): Promise<number> {
    this.#isShowDue = false
    try {
      const { isAll, pauseMs } = await showDownloads(this.#deps, { now })
      if (!isAll) this.#isShowDue = true
      return pauseMs
    } catch (err) {
      this.#isShowDue = true
      this.#deps.log.warn({ err }, 'Could not show new downloads; Depot retries')
      return RETRY_MS
    }
  }

  async #settled(): Promise<void> {
    // The current round might have started before the newest batch arrived; the next round includes that batch.
    await this.#counting
    await this.#counting
    if (this.#waiting.length > 0 || this.#isBehind) await this.#count()
    await this.#showing
    if (!this.#isShowDue) return
    const pauseMs = await this.#show(true)
    if (this.#isShowDue) this.#showLater(pauseMs)
  }
}
