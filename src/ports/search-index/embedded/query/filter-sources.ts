// Filters kept as objects, so that those which come often need not be read from their JSON again.
import type { Filter } from '#ports/search-index/filter/tree.ts'
import { MAX_KEY_LENGTH } from './filter-cache.ts'

const MAX_FILTERS = 1024

export class KnownFilters {
  readonly #filters = new Map<string, Filter>()

  get size(): number {
    return this.#filters.size
  }

  /** The filter that this JSON says. */
  read(json: string): Filter {
    const known = this.#filters.get(json)
    if (known !== undefined) return known
    const filter: Filter = JSON.parse(json)
    if (json.length > MAX_KEY_LENGTH) return filter
    if (this.#filters.size >= MAX_FILTERS) this.#filters.clear()
    this.#filters.set(json, filter)
    return filter
  }
}
