// The four orders in which hits are listed, each over all document slots.
import type { Sort } from '../search-index.ts'
import type { DocColumn, DocTable } from './doc-table.ts'
import { type Compare, SortedSlots } from './sorted-slots.ts'

/** The column each order follows; relevance, within a class, follows downloads (their logarithm sorts the same). */
const COLUMN_OF_SORT: Readonly<Record<Sort, OrderColumn>> = {
  relevance: 'downloads',
  downloads: 'downloads',
  follows: 'follows',
  newest: 'created',
  updated: 'modified',
}
const ORDER_COLUMNS = ['downloads', 'follows', 'created', 'modified'] as const
type OrderColumn = (typeof ORDER_COLUMNS)[number]

export type SavedOrders = Record<OrderColumn, Uint32Array<ArrayBuffer>>

export class Orders {
  readonly #docs: DocTable
  readonly #orders: Record<OrderColumn, SortedSlots>
  #unsorted: number[] = []

  constructor(docs: DocTable, saved?: SavedOrders) {
    this.#docs = docs
    this.#orders = mapOrders((column) => new SortedSlots(saved?.[column]))
  }

  /** Listed after `finishBatch`; the slot's columns may not change but through `setCounts`. */
  add(doc: number): void {
    this.#unsorted.push(doc)
  }

  finishBatch(): void {
    for (const column of ORDER_COLUMNS) this.#orders[column].insert(this.#unsorted, this.#compare(column))
    this.#unsorted = []
  }

  setCounts(doc: number, counts: { downloads: number; follows: number }): void {
    this.finishBatch()
    const moved = (['downloads', 'follows'] as const).filter((name) => this.#docs.columns[name][doc] !== counts[name])
    for (const column of moved) this.#orders[column].remove(doc, this.#compare(column))
    this.#docs.setCounts(doc, counts)
    for (const column of moved) this.#orders[column].insert([doc], this.#compare(column))
  }

  get(sort: Sort): { slots: SortedSlots; compare: Compare } {
    const column = COLUMN_OF_SORT[sort]
    return { slots: this.#orders[column], compare: this.#compare(column) }
  }

  /** The same orders over the table's compacted copy. */
  remapped(docs: DocTable, newDocs: Uint32Array<ArrayBuffer>): Orders {
    return new Orders(
      docs,
      mapOrders((column) => this.#orders[column].remapped(newDocs).save()),
    )
  }

  save(): SavedOrders {
    return mapOrders((column) => this.#orders[column].save())
  }

  #compare(name: DocColumn): Compare {
    const docs = this.#docs
    const column = docs.columns[name]
    const { freshness } = docs.columns
    return (a, b) =>
      (column[b] ?? 0) - (column[a] ?? 0) ||
      (freshness[b] ?? 0) - (freshness[a] ?? 0) ||
      docs.ids.list.compare(docs.idOfDoc[a] ?? 0, docs.idOfDoc[b] ?? 0) ||
      a - b
  }
}

function mapOrders<T>(make: (column: OrderColumn) => T): Record<OrderColumn, T> {
  return {
    downloads: make('downloads'),
    follows: make('follows'),
    created: make('created'),
    modified: make('modified'),
  }
}
