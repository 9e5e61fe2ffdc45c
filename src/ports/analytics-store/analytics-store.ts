// The analytics port: stores batches of events and returns counted points. Adapters: the embedded `duckdb/` and
// `clickhouse/`, to which several processes can write. points.ts applies the rules for countries, counting and order.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { EventKind, Events } from './events.ts'
import type { LineBatch } from './lines.ts'
import type { MetricKey, MetricRequest } from './metrics.ts'
import type { MetricSlices } from './points.ts'
import type { SliceGrid } from './slices.ts'

/** Maximum number of events in a batch. */
export const APPEND_EVENTS_MAX = 10_000

/** Maximum number of batches that `listBatches` returns. */
export const LISTED_BATCHES_MAX = 10_000

/** Maximum number of batches per call of `readBatches`: up to 200,000 events. */
export const READ_BATCHES_MAX = 20

/** Maximum number of sources (projects, affiliate codes) in a metric, and of projects in one `countDownloads`. */
export const SOURCES_MAX = 10_000

/** Maximum number of counted cells of a metric, before the country floor is applied. */
export const CELLS_MAX = 250_000

/** A metric with the IDs of the projects or affiliate codes that the caller can see. */
export type SourcedMetric = MetricRequest & { sources: readonly string[] }

/** A validated query of metrics that the store counts (`METRICS[…].from` is not `records`). */
export type StoreQuery = { grid: SliceGrid; metrics: readonly SourcedMetric[] }

/** Events of one kind that are stored together. An ID is never used for other events. */
export type Batch<K extends EventKind = EventKind> = {
  /** 1 to 64 characters; the same in every attempt to store the batch. */
  id: string
  /** Time at which the ID was created, in milliseconds since 1970. */
  madeAt: number
  /** 1 to APPEND_EVENTS_MAX. */
  events: readonly Events[K][]
}

export type VersionDownloads = { project_id: string; version_id: string; downloads: number }

/** Downloads by project and by version, in order of their IDs (byte order). */
export type DownloadCounts = { projects: { project_id: string; downloads: number }[]; versions: VersionDownloads[] }

/** A stored batch of downloads; `storedAt` is in milliseconds of the clock of the store. */
export type ListedBatch = { id: string; storedAt: number }

export type DownloadRange = {
  /** Counts batches with `storedAt` before this, */
  storedBefore?: number
  /** and these batches, regardless of their time. */
  alsoBatches?: readonly string[]
  /** Counts only these projects, at most SOURCES_MAX. */
  projectIds?: readonly string[]
}

/** Another process has opened the store, which only one process can open. */
export class StoreInUseError extends Error {
  override name = 'StoreInUseError'
}

/** Messages of DuckDB about content that it did not write. */
const DAMAGED = /Corrupt database file|not a valid DuckDB database file/

/** Returns whether an error of a store, or one of its causes, reports a damaged file. */
export function isDamagedStore(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return DAMAGED.test(error.message) || isDamagedStore(error.cause)
}

export type AnalyticsStore = {
  /**
   * Stores a batch of one kind atomically and durably. Ignores a batch whose ID was stored before, at any time and by any
   * process.
   * @throws RangeError for an empty or too large batch; ApiError if the store does not respond: the batch may be stored.
   */
  append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void>

  /** Stores a batch like `append`, from lines as `readEvents` returns them. */
  appendLines(kind: EventKind, batch: LineBatch): Promise<void>

  /**
   * Returns one part per metric, with `grid.count` slices each. Queries wait in turn between callers; `caller` identifies
   * the client, for example by its IP address. A signal stops the query.
   * @throws ApiError `invalid_input` if a metric has more than CELLS_MAX cells; `analytics_database_error` if the store
   * fails or exceeds its time limit; 503 if too many queries wait.
   */
  query(query: StoreQuery, options?: { signal?: AbortSignal; caller?: string }): Promise<MetricSlices[]>

  /** Counts the downloads of all batches, or of a range, for counters outside of the store. */
  countDownloads(range: DownloadRange): Promise<DownloadCounts>

  /**
   * Returns an instant of the store's clock such that every batch with an earlier `storedAt` is visible now, and no process
   * will add another one.
   */
  settledAt(): Promise<number>

  /** Lists batches of downloads with `from <= storedAt`, oldest first. The store retains the list for 3 days. */
  listBatches(range: { from: number }): Promise<ListedBatch[]>

  /** Counts the downloads of each of these batches (at most READ_BATCHES_MAX), except those that are not stored. */
  readBatches(ids: readonly string[]): Promise<Map<string, VersionDownloads[]>>

  /**
   * Reads every event of a kind that was stored before the call, unordered and in constant memory. A line is a JSON array
   * of the columns in the order of `columnsOf`. Waits for `onLines` after at most APPEND_EVENTS_MAX lines.
   */
  readEvents(kind: EventKind, onLines: (lines: string[]) => Promise<void>): Promise<void>

  /**
   * Permanently removes the views, downloads and playtime of these projects (at most SOURCES_MAX) that were stored before
   * the call. The IDs of their batches stay known, so that they are not stored again.
   */
  forgetProjects(ids: readonly string[]): Promise<void>

  /** Returns a permanent, unique ID of this store, which counters outside of the store refer to. */
  identity(): Promise<string>

  /** @throws ApiError `analytics_database_error` if the store does not respond. */
  check(): Promise<void>

  /** Finishes running calls and closes. Idempotent. */
  close(): Promise<void>
}

/** @throws RangeError for an invalid ID or number of events. */
export function checkBatch({ id, events }: { id: string; events: readonly unknown[] }): void {
  if (id.length < 1 || id.length > 64) throw new RangeError('The ID of a batch must have 1 to 64 characters')
  if (events.length < 1 || events.length > APPEND_EVENTS_MAX)
    throw new RangeError(`A batch must have 1 to ${APPEND_EVENTS_MAX} events`)
}

/** @throws RangeError for too many projects or batches. */
export function checkDownloadRange({ projectIds = [], alsoBatches = [] }: DownloadRange): void {
  checkSources(projectIds)
  if (alsoBatches.length > LISTED_BATCHES_MAX) throw new RangeError(`At most ${LISTED_BATCHES_MAX} batches per call`)
}

/** Kinds of events that name a project. */
export const PROJECT_KINDS = ['view', 'download', 'playtime'] as const satisfies readonly EventKind[]

/** @throws RangeError for more than SOURCES_MAX. */
export function checkSources(ids: readonly string[]): void {
  if (ids.length > SOURCES_MAX) throw new RangeError(`At most ${SOURCES_MAX} sources per metric`)
}

/** Returns the error for a metric with more than CELLS_MAX cells. */
export function tooManyCells(metric: MetricKey): ApiError {
  return invalidInput(
    `The result for ${metric} would have more than ${CELLS_MAX} points. Request fewer buckets, projects or slices.`,
    `return_metrics.${metric}`,
  )
}
