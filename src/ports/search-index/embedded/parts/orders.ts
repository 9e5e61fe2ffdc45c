// The four orders in which hits are listed, each over the living documents.
import type { Sort } from '#ports/search-index/search-index.ts'
import { remapSlots } from '../storage/new-slots.ts'
import { type Compare, SortedSlots } from '../storage/sorted-slots.ts'
import type { DocColumn, DocTable } from './doc-table.ts'

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
/** With more changes than this at once, one pass over an order takes less than looking up each place. */
const MAX_LOOKED_UP = 16

export type SavedOrders = Record<OrderColumn, Uint32Array<ArrayBuffer>>

/** `leaving` and `entering` wait for the end of the batch; what is in both moves. */
type Order = { readonly slots: SortedSlots; readonly leaving: Set<number>; readonly entering: Set<number> }

export class Orders {
  readonly #docs: DocTable
  readonly #orders: Record<OrderColumn, Order>
  #isLargeBatch = false

  constructor(docs: DocTable, saved?: SavedOrders) {
    this.#docs = docs
    this.#orders = mapOrders((column) => ({
      slots: new SortedSlots(saved?.[column]),
      leaving: new Set(),
      entering: new Set(),
    }))
  }

  beginBatch(changes: number): void {
    // What is leaving still stands in the orders, where its new counts would mislead a look-up.
    this.#isLargeBatch = changes > MAX_LOOKED_UP || ORDER_COLUMNS.some((name) => this.#orders[name].leaving.size > 0)
  }

  /** Listed after `finishBatch`; the slot's columns may not change but through `setCounts`. */
  add(doc: number): void {
    for (const column of ORDER_COLUMNS) this.#orders[column].entering.add(doc)
  }

  remove(doc: number): void {
    for (const column of ORDER_COLUMNS) this.#leave(column, doc)
  }

  setCounts(doc: number, counts: { downloads: number; follows: number }): void {
    const moved = (['downloads', 'follows'] as const).filter((name) => this.#docs.columns[name][doc] !== counts[name])
    for (const column of moved) this.#leave(column, doc)
    this.#docs.setCounts(doc, counts)
    for (const column of moved) this.#orders[column].entering.add(doc)
  }

  finishBatch(): void {
    for (const column of ORDER_COLUMNS) {
      const { slots, leaving, entering } = this.#orders[column]
      slots.removeAll(leaving, this.#docs.docCount)
      slots.insert([...entering], this.#compare(column))
      leaving.clear()
      entering.clear()
    }
  }

  get(sort: Sort): { slots: SortedSlots; compare: Compare } {
    const column = COLUMN_OF_SORT[sort]
    return { slots: this.#orders[column].slots, compare: this.#compare(column) }
  }

  /** The orders of the new slots, for a copy of the table; they are taken before the first yield. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, SavedOrders> {
    const orders = mapOrders((column) => this.#orders[column].slots.save().slice())
    yield
    for (const column of ORDER_COLUMNS) {
      orders[column] = yield* remapSlots(orders[column], newDocs)
    }
    return orders
  }

  /** Slots that wait for `finishBatch`. */
  get pending(): number {
    return this.#orders.created.entering.size
  }

  save(): SavedOrders {
    return mapOrders((column) => this.#orders[column].slots.save())
  }

  /** A place is found by the columns as they were when the slot was listed, so before they change. */
  #leave(column: OrderColumn, doc: number): void {
    const { slots, leaving, entering } = this.#orders[column]
    if (entering.delete(doc)) return
    if (this.#isLargeBatch) leaving.add(doc)
    else slots.remove(doc, this.#compare(column))
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
