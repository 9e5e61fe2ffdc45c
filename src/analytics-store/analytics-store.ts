// The analytics port: events go in by the batch, counted points come out. An adapter is embedded (duckdb.ts) or an
// existing column store; nothing outside knows which. Countries, counting and order are settled in points.ts.
import type { EventKind, Events } from './events.ts'
import type { MetricRequest } from './metrics.ts'
import type { MetricSlices } from './points.ts'
import type { SliceGrid } from './slices.ts'

/** Largest batch that `append` takes. */
export const APPEND_EVENTS_MAX = 10_000

/** Most sources (projects, affiliate codes) in one metric of a question, and most projects in one `countDownloads`. */
export const SOURCES_MAX = 10_000

/** Most cells that one metric of a question may count before the country floor is applied to them for the answer. */
export const CELLS_MAX = 250_000

/** A metric with what the caller may see of it: project IDs or affiliate code IDs, as the metric's source is. */
export type SourcedMetric = MetricRequest & { sources: readonly string[] }

/** A validated question about metrics that the store counts (`METRICS[…].from` is not `records`). */
export type StoreQuery = { grid: SliceGrid; metrics: readonly SourcedMetric[] }

/** Downloads of a set of batches, by project and by version. */
export type DownloadCounts = {
  projects: { project_id: string; downloads: number }[]
  versions: { project_id: string; version_id: string; downloads: number }[]
}

/** The store cannot be opened because another process holds it. */
export class StoreHeldError extends Error {
  override name = 'StoreHeldError'
}

export type AnalyticsStore = {
  /**
   * Stores a batch of one kind, all or nothing; once it returns, a killed process has lost nothing of it. `sequence`
   * counts the batches of downloads upwards from 1 (it is 0 for other kinds): who keeps counters elsewhere writes it
   * beside them in one transaction, and after a crash asks `countDownloads` for what followed.
   */
  append<K extends EventKind>(kind: K, events: readonly Events[K][]): Promise<{ sequence: number }>

  /**
   * One part for each metric asked, with `grid.count` slices each. A signal stops the work.
   * @throws ApiError `invalid_input` when a metric has more than CELLS_MAX cells; `analytics_database_error` when the
   * store fails, is overloaded, or takes longer than its limit.
   */
  query(query: StoreQuery, options?: { signal?: AbortSignal }): Promise<MetricSlices[]>

  /**
   * Counts the downloads of batches with `after < sequence <= upTo` (both optional), of the named projects or of all,
   * ordered by ID. Reconciliation asks with `upTo` = the last batch its counters have applied.
   */
  countDownloads(range: { after?: number; upTo?: number; projectIds?: readonly string[] }): Promise<DownloadCounts>

  /** What tells this store from every other, for ever the same: counters kept elsewhere name the store they follow. */
  identity(): Promise<string>

  /** Sequence of the newest batch of downloads, 0 when there is none. */
  lastSequence(): Promise<number>

  /** Resolves when the store answers. @throws ApiError `analytics_database_error` */
  check(): Promise<void>

  /** Finishes what is running and closes; idempotent. */
  close(): Promise<void>
}
