// The four sort orders of hits, each over all live documents.
import type { Sort } from '#ports/search-index/search-index.ts'
import { remapSlots } from '../storage/new-slots.ts'
import { type Compare, SortedSlots } from '../storage/sorted-slots.ts'
import type { DocColumn, DocTable } from './doc-table.ts'

/** Column of each order. Within a class, relevance sorts by downloads, whose logarithm sorts the same. */
const COLUMN_OF_SORT: Readonly<Record<Sort, OrderColumn>> = {
  relevance: 'downloads',
  downloads: 'downloads',
  follows: 'follows',
  newest: 'created',
  updated: 'modified',
}
const ORDER_COLUMNS = ['downloads', 'follows', 'created', 'modified'] as const
type OrderColumn = (typeof ORDER_COLUMNS)[number]
/** For more changes than this, one pass over an order is faster than a search for each position. */
const MAX_SEARCHED = 16

/** `leaving` and `entering` are applied at the end of the batch. A slot in both of them moves. */
type Order = { readonly slots: SortedSlots; readonly leaving: Set<number>; readonly entering: Set<number> }

export class Orders {
  readonly #docs: DocTable
  readonly #orders: Record<OrderColumn, Order>
  #isLargeBatch = false

  constructor(docs: DocTable, saved?: ReturnType<Orders['save']>) {
    this.#docs = docs
    this.#orders = mapOrders((column) => ({
      slots: new SortedSlots(saved?.[column]),
      leaving: new Set(),
      entering: new Set(),
    }))
  }

  beginBatch(changes: number): void {
    // Slots in `leaving` are still in the orders, where their new counts would mislead a binary search.
    this.#isLargeBatch = changes > MAX_SEARCHED || ORDER_COLUMNS.some((name) => this.#orders[name].leaving.size > 0)
  }

  /** Adds the slot at `finishBatch`. Only `setCounts` may change its columns afterwards. */
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

  /** Returns the orders of the new slots for a copy of the table. Copies the orders before the first yield. */
  *remapped(newDocs: Uint32Array<ArrayBuffer>): Generator<void, ReturnType<Orders['save']>> {
    const orders = mapOrders((column) => this.#orders[column].slots.save().slice())
    yield
    for (const column of ORDER_COLUMNS) orders[column] = yield* remapSlots(orders[column], newDocs)
    return orders
  }

  /** Number of slots that wait for `finishBatch`. */
  get pending(): number {
    return this.#orders.created.entering.size
  }

  save() {
    return mapOrders((column) => this.#orders[column].slots.save())
  }

  /** Must be called before the columns of the slot change, because the position is found by them. */
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
  return Object.fromEntries(ORDER_COLUMNS.map((column) => [column, make(column)])) as Record<OrderColumn, T>
}
