// The search port: what the feature asks of an index, whichever engine stands behind it.
import type { SearchDocument } from './document.ts'
import type { Filter } from './filter/tree.ts'

export const SORTS = ['relevance', 'downloads', 'follows', 'newest', 'updated'] as const
/** All descending, then the date of the newest version descending, then project ID ascending. */
export type Sort = (typeof SORTS)[number]

export type SearchQuery = {
  /** What the user typed; without a letter, digit or symbol in it, it matches everything. */
  readonly text: string
  readonly filter: Filter
  readonly sort: Sort
  /** Hits skipped, exactly; beyond the end the page is empty. */
  readonly offset: number
  /** 1-100. */
  readonly limit: number
}

/** What is counted: for each filter, the projects that the text finds and it holds on. At most `MAX_COUNTED`. */
export type CountQuery = { readonly text: string; readonly filters: readonly Filter[] }

/** At most this many filters in one `count`. */
export const MAX_COUNTED = 512

export type SearchAnswer = {
  /** The whole response body as UTF-8 JSON: `{hits, page, hits_per_page, total_hits}`. Owned by the caller. */
  readonly body: Uint8Array
  readonly totalHits: number
}

/**
 * One project's newest state, or its absence. `sequence` grows with the commits of the database, per project at least;
 * a change whose sequence is not above the last one applied for that project changes nothing, so changes may be sent
 * again and in any order.
 */
export type SearchChange =
  | { readonly kind: 'upsert'; readonly sequence: number; readonly document: SearchDocument }
  | { readonly kind: 'delete'; readonly sequence: number; readonly id: string }

/** The whole catalogue at one moment; `sequence` is the last one committed at that moment. */
export type Catalogue = { readonly sequence: number; readonly batches: AsyncIterable<readonly SearchDocument[]> }

export type SearchIndexStatus = {
  /** False while no engine answers (starting, or being replaced after a crash). */
  readonly ready: boolean
  readonly documents: number
  /** The highest sequence applied or rebuilt from: the feed goes on after it. 0: nothing yet, rebuild. */
  readonly sequence: number
  readonly rebuilding: boolean
  /** Resident memory of the engine where it can tell. */
  readonly memoryBytes: number
  /**
   * Which index this is, where it lies outside of the process: another one after a rebuild, or when it was restored or
   * replaced behind our back. Empty where there is none, or nobody else can touch it.
   */
  readonly identity: string
}

/** At most this many changes in one `apply`; a feeder sends its backlog in pieces. */
export const MAX_CHANGES = 1000

export interface SearchIndex {
  /** @throws ApiError `search_error` or `service_unavailable` when no engine answers. */
  search(query: SearchQuery): Promise<SearchAnswer>

  /**
   * How many hits a search with this text and each of these filters has, in their order: the counts beside the choices
   * of a list.
   * @throws ApiError `search_error` or `service_unavailable` when no engine answers.
   */
  count(query: CountQuery): Promise<readonly number[]>

  /**
   * Applies changes in order, all of them before it resolves: a search sent after that sees them. At most `MAX_CHANGES`.
   * @throws ApiError `search_error` or `service_unavailable`; the feeder then sends them again after `status().sequence`.
   */
  apply(changes: readonly SearchChange[]): Promise<void>

  /**
   * Builds a new index out of the whole catalogue beside the running one, then swaps. From before `open` is called,
   * changes applied reach both and win where they are newer, so a database state that `open` reads misses none. When it
   * fails, the running index stays. One at a time: a second call is refused with `search_error`.
   */
  rebuild(open: () => Promise<Catalogue>): Promise<void>

  /** Makes what has been applied survive a restart, so that no rebuild is needed. */
  checkpoint(): Promise<void>

  status(): Promise<SearchIndexStatus>

  /** Answers what is under way, then stops; further calls fail with `search_error`. */
  close(): Promise<void>
}
