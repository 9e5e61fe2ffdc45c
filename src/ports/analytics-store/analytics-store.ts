// The analytics port: events go in by the batch, counted points come out. An adapter is embedded (duckdb/) or an
// existing column store (clickhouse/); nothing outside knows which. Several processes may write to one store at once.
// Countries, counting and order are settled in points.ts.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { EventKind, Events } from './events.ts'
import type { MetricKey, MetricRequest } from './metrics.ts'
import type { MetricSlices } from './points.ts'
import type { SliceGrid } from './slices.ts'

/** Largest batch that `append` takes. */
export const APPEND_EVENTS_MAX = 10_000

/** Most batches that `listBatches` gives at once. */
export const LISTED_BATCHES_MAX = 10_000

/** Most batches that `readBatches` reads at once: up to 200,000 events. */
export const READ_BATCHES_MAX = 20

/** Most sources (projects, affiliate codes) in one metric of a question, and most projects in one `countDownloads`. */
export const SOURCES_MAX = 10_000

/** Most cells that one metric of a question may count before the country floor is applied to them for the answer. */
export const CELLS_MAX = 250_000

/** A metric with what the caller may see of it: project IDs or affiliate code IDs, as the metric's source is. */
export type SourcedMetric = MetricRequest & { sources: readonly string[] }

/** A validated question about metrics that the store counts (`METRICS[…].from` is not `records`). */
export type StoreQuery = { grid: SliceGrid; metrics: readonly SourcedMetric[] }

/** Events of one kind that are stored together. The same ID is never given to other events. */
export type Batch<K extends EventKind = EventKind> = {
  /** Made before the first attempt to store the batch, and the same in every further one: 1 to 64 characters. */
  id: string
  /** When the ID was made, in milliseconds since 1970. */
  madeAt: number
  /** 1 to APPEND_EVENTS_MAX. */
  events: readonly Events[K][]
}

export type VersionDownloads = { project_id: string; version_id: string; downloads: number }

/** Downloads by project and by version, in order of their IDs (byte order). */
export type DownloadCounts = {
  projects: { project_id: string; downloads: number }[]
  versions: VersionDownloads[]
}

/** A stored batch of downloads; `storedAt` is in milliseconds of the store's own clock. */
export type ListedBatch = { id: string; storedAt: number }

export type DownloadRange = {
  /** Only batches with `storedAt` before this, */
  storedBefore?: number
  /** and these, whenever they were stored. */
  alsoBatches?: readonly string[]
  /** Of these projects only, at most SOURCES_MAX. */
  projectIds?: readonly string[]
}

/** The store cannot be opened because another process holds it. */
export class StoreHeldError extends Error {
  override name = 'StoreHeldError'
}

export type AnalyticsStore = {
  /**
   * Stores a batch of one kind, all or nothing; once it returns, a killed process has lost nothing of it. A batch whose
   * ID is stored already adds nothing, however long ago that was and whoever stored it.
   * @throws RangeError for an empty or too large batch; ApiError when the store does not answer: it may be stored or not.
   */
  append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void>

  /**
   * One part for each metric asked, with `grid.count` slices each. A signal stops the work; `caller` is who asks, as the
   * key of an address: questions wait fairly between callers.
   * @throws ApiError `invalid_input` when a metric has more than CELLS_MAX cells; `analytics_database_error` when the
   * store fails or takes longer than its limit; 503 when too many questions wait.
   */
  query(query: StoreQuery, options?: { signal?: AbortSignal; caller?: string }): Promise<MetricSlices[]>

  /** Downloads of all batches, or of a part of them, for whoever keeps counters elsewhere. */
  countDownloads(range: DownloadRange): Promise<DownloadCounts>

  /**
   * An instant of the store's clock: every batch with an earlier `storedAt` can be seen, and none will come after the
   * call, from any process.
   */
  settledAt(): Promise<number>

  /** Batches of downloads with `from <= storedAt < to`, oldest first, at most LISTED_BATCHES_MAX. Kept for three days. */
  listBatches(range: { from: number; to?: number }): Promise<ListedBatch[]>

  /** What these batches of downloads (at most READ_BATCHES_MAX) add to the counters, of those that are stored. */
  readBatches(ids: readonly string[]): Promise<Map<string, VersionDownloads[]>>

  /**
   * Hands over every event of a kind that was stored before the call, at most APPEND_EVENTS_MAX at once and in no order,
   * each as a JSON array of its columns in the order of `columnsOf`. A slow reader slows the reading, and nothing else;
   * memory stays flat.
   */
  readEvents(kind: EventKind, onLines: (lines: string[]) => Promise<void>): Promise<void>

  /**
   * Removes the views, downloads and playtime of these projects (at most SOURCES_MAX) that were stored before the call,
   * for ever. Their batches stay known: none is stored again.
   */
  forgetProjects(ids: readonly string[]): Promise<void>

  /** What tells this store from every other, for ever the same: counters kept elsewhere name the store they follow. */
  identity(): Promise<string>

  /** Resolves when the store answers. @throws ApiError `analytics_database_error` */
  check(): Promise<void>

  /** Finishes what is running and closes; idempotent. */
  close(): Promise<void>
}

/** @throws RangeError unless the batch has a usable ID and a number of events that `append` takes. */
export function checkBatch({ id, events }: Batch): void {
  if (id.length < 1 || id.length > 64) throw new RangeError('The ID of a batch has 1 to 64 characters')
  if (events.length < 1 || events.length > APPEND_EVENTS_MAX) {
    throw new RangeError(`A batch has 1 to ${APPEND_EVENTS_MAX} events`)
  }
}

/** @throws RangeError when more sources or batches are named than one call may name. */
export function checkDownloadRange({ projectIds = [], alsoBatches = [] }: DownloadRange): void {
  checkSources(projectIds)
  if (alsoBatches.length > LISTED_BATCHES_MAX) throw new RangeError(`At most ${LISTED_BATCHES_MAX} batches at once`)
}

/** The kinds of events that name a project. */
export const PROJECT_KINDS = ['view', 'download', 'playtime'] as const satisfies readonly EventKind[]

/** @throws RangeError for more than SOURCES_MAX. */
export function checkSources(ids: readonly string[]): void {
  if (ids.length > SOURCES_MAX) throw new RangeError(`A question names at most ${SOURCES_MAX} sources`)
}

/** The error of a metric that would have more than CELLS_MAX cells. */
export function tooManyCells(metric: MetricKey): ApiError {
  return invalidInput(
    `The answer for ${metric} would have more than ${CELLS_MAX} points; ask for fewer buckets, projects or slices`,
    `return_metrics.${metric}`,
  )
}
