// The search port: the interface that the embedded engine and OpenSearch implement.
import type { SearchDocument } from './document.ts'
import type { Filter } from './filter/tree.ts'

export const SORTS = ['relevance', 'downloads', 'follows', 'newest', 'updated'] as const
/** All descending, then the date of the last version descending, then project ID ascending. */
export type Sort = (typeof SORTS)[number]

export type SearchQuery = {
  /** Text of the user; matches everything if it contains no letter, digit or symbol. */
  readonly text: string
  readonly filter: Filter
  readonly sort: Sort
  /** Number of hits to skip. Beyond the end the page is empty. */
  readonly offset: number
  /** 1-100. */
  readonly limit: number
}

/** Counts, for each filter, the projects that match the text and the filter. At most `MAX_COUNTED` filters. */
export type CountQuery = { readonly text: string; readonly filters: readonly Filter[] }

/** Maximum number of filters in one `count`. */
export const MAX_COUNTED = 512

export type SearchAnswer = {
  /** The whole response body as UTF-8 JSON: `{hits, page, hits_per_page, total_hits}`. Owned by the caller. */
  readonly body: Uint8Array
  readonly totalHits: number
}

/**
 * The newest state of a project, or its deletion. The index ignores a change whose `sequence`, which increases with the
 * commits of the database, is not above that of the project's last change. Changes can therefore be sent in any order.
 */
export type SearchChange =
  | { readonly kind: 'upsert'; readonly sequence: number; readonly document: SearchDocument }
  | { readonly kind: 'delete'; readonly sequence: number; readonly id: string }

/** The whole catalogue at one moment; `sequence` is the last one committed then. */
export type Catalogue = { readonly sequence: number; readonly batches: AsyncIterable<readonly SearchDocument[]> }

export type SearchIndexStatus = {
  /** False while the engine does not respond, for example while it restarts after a crash. */
  readonly ready: boolean
  readonly documents: number
  /** Highest sequence that was applied or rebuilt from. 0: the index is empty and must be rebuilt. */
  readonly sequence: number
  readonly rebuilding: boolean
  /** Resident memory of the engine; 0 if it is unknown. */
  readonly memoryBytes: number
  /**
   * Identifies an index outside of the process. It changes after a rebuild, and if an operator restores or replaces the
   * index. Empty if there is no index, or if only this process can access it.
   */
  readonly identity: string
}

/** Maximum number of changes in one `apply`. */
export const MAX_CHANGES = 1000

export interface SearchIndex {
  /** @throws ApiError `search_error` or `service_unavailable` if the engine does not respond. */
  search(query: SearchQuery): Promise<SearchAnswer>

  /**
   * Returns the number of hits of a search with the text and each of the filters, in their order.
   * @throws ApiError `search_error` or `service_unavailable` if the engine does not respond.
   */
  count(query: CountQuery): Promise<readonly number[]>

  /**
   * Applies at most `MAX_CHANGES` changes in order. A search that begins after it resolves sees them.
   * @throws ApiError `search_error` or `service_unavailable`; the caller must then send the changes again.
   */
  apply(changes: readonly SearchChange[]): Promise<void>

  /**
   * Builds a new index from the whole catalogue, then replaces the current one, which stays in use if this fails. Changes
   * that are applied from before the call of `open` reach both. A concurrent second call fails with `search_error`.
   */
  rebuild(open: () => Promise<Catalogue>): Promise<void>

  /** Saves the index, so that a restart needs no rebuild. */
  checkpoint(): Promise<void>

  status(): Promise<SearchIndexStatus>

  /** Finishes calls in progress, then stops. Further calls fail with `search_error`. */
  close(): Promise<void>
}
