// Updates the download counters from the event store while the process runs. Storing events never waits for the counters: if
// the database is unavailable, the counters are compared with the store later.

import { MINUTE_MS } from '#lib/time.ts'
import type { AnalyticsStore, Batch, VersionDownloads } from '#ports/analytics-store/analytics-store.ts'
import type { EventSink } from '#ports/analytics-store/buffer.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import type { DownloadEvent, EventKind } from '#ports/analytics-store/events.ts'
import { applyBatches, catchUp, type LedgerDeps } from './counter-ledger.ts'
import { showDownloads } from './show-downloads.ts'

const RETRY_SHOW_MS = 5_000
const CATCH_UP_MS = MINUTE_MS
/** Maximum number of batches that wait in memory for the database. Beyond this, batches are read from the store again. */
const WAITING_MAX = 1_000

export class CounterFollower {
  /** Stores batches in the event store, and counts their downloads afterwards. */
  readonly sink: EventSink = { append: (kind, batch) => this.#append(kind, batch), settled: () => this.#settled() }
  readonly #deps: LedgerDeps & { store: AnalyticsStore }
  /** Downloads of the stored batches that are not counted yet, by batch ID. */
  #waiting = new Map<string, readonly VersionDownloads[]>()
  #counting: Promise<void> | undefined
  /** Whether the store might contain batches that were not counted. */
  #isBehind = false
  #isShowDue = false
  #showing: Promise<number> | undefined
  #catchUpTimer: NodeJS.Timeout | undefined
  #showTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(deps: LedgerDeps & { store: AnalyticsStore }) {
    this.#deps = deps
  }

  /** Counts what an earlier process has left, now and every minute. Never rejects. */
  async start(): Promise<void> {
    if (this.#isClosed) return
    this.#isBehind = true
    await this.#count()
    this.#catchUpTimer = setTimeout(() => this.start(), CATCH_UP_MS).unref()
  }

  /** Waits for the current round. There are no retries afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#catchUpTimer)
    clearTimeout(this.#showTimer)
    await this.#counting
  }

  async #append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void> {
    await this.#deps.store.append(kind, batch)
    if (kind !== 'download') return
    const { versions } = countByVersion(batch.events as readonly DownloadEvent[])
    this.#waiting.set(batch.id, versions)
    if (this.#waiting.size > WAITING_MAX) {
      this.#waiting.clear()
      this.#isBehind = true
    }
    void this.#count()
  }

  /** Runs one round at a time. Never rejects. */
  #count(): Promise<void> {
    this.#counting ??= this.#countWaiting().finally(() => {
      this.#counting = undefined
      if (this.#waiting.size > 0) void this.#count()
    })
    return this.#counting
  }

  async #countWaiting(): Promise<void> {
    const batches = this.#waiting
    this.#waiting = new Map()
    try {
      await applyBatches(this.#deps, batches)
      this.#showSoon()
      if (!this.#isBehind) return
      this.#isBehind = false
      await catchUp(this.#deps)
      this.#showSoon()
    } catch (err) {
      this.#isBehind = true
      // The next batch or the next minute begins another round.
      this.#deps.log.warn({ err }, 'Could not update the download counters; Depot retries')
    }
  }

  #showSoon(): void {
    this.#isShowDue = true
    this.#showLater(0)
  }

  #showLater(ms: number): void {
    if (this.#isClosed || this.#showTimer !== undefined) return
    this.#showTimer = setTimeout(async () => {
      this.#showTimer = undefined
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
      return RETRY_SHOW_MS
    }
  }

  async #settled(): Promise<void> {
    // The current round might have started before the newest batch arrived; the next round includes that batch.
    await this.#counting
    await this.#counting
    if (this.#waiting.size > 0 || this.#isBehind) await this.#count()
    await this.#showing
    if (!this.#isShowDue) return
    const pauseMs = await this.#show(true)
    if (this.#isShowDue) this.#showLater(pauseMs)
  }
}
