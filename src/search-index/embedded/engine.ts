// The index itself, in one thread and without input or output: changes in, answers out.
import { ApiError } from '#lib/errors.ts'
import { newestFirst, type SearchDocument } from '../document.ts'
import type { SearchChange, SearchQuery } from '../search-index.ts'
import { type Bits, BitsPool, unite } from './bits.ts'
import { DocTable, fingerprint, type SavedDocs } from './doc-table.ts'
import { narrow } from './evaluate.ts'
import { FacetIndex, type SavedFacets } from './facet-index.ts'
import { type ByteWriter, HitStore, type SavedHits } from './hit-store.ts'
import { Orders, type SavedOrders } from './orders.ts'
import { takePage } from './page.ts'
import { makePlan, newestHolding } from './plan.ts'
import { DROPPED } from './postings.ts'
import { type SavedText, TextIndex } from './text-index.ts'

/** Compaction waits for this many dead slots, and for them to be a quarter as many as the living. */
const MIN_DEAD_SLOTS = 10_000
const MIN_GARBAGE_BYTES = 32 * 1024 * 1024

export type SavedEngine = {
  sequence: number
  docs: SavedDocs
  facets: SavedFacets
  text: SavedText
  hits: SavedHits
  orders: SavedOrders
}

export class Engine {
  /** The highest sequence applied. */
  sequence: number
  #docs: DocTable
  readonly #facets: FacetIndex
  readonly #text: TextIndex
  #hits: HitStore
  #orders: Orders
  /** The documents of recent filters, until the next change: most searches share a few filters. */
  readonly #remembered = new Map<string, Bits>()
  readonly #pools = { docs: new BitsPool(), versions: new BitsPool() }

  readonly #minDeadSlots: number

  constructor(saved?: SavedEngine, limits: { readonly minDeadSlots: number } = { minDeadSlots: MIN_DEAD_SLOTS }) {
    this.#minDeadSlots = limits.minDeadSlots
    this.sequence = saved?.sequence ?? 0
    this.#docs = new DocTable(saved?.docs)
    this.#facets = new FacetIndex(saved?.facets)
    this.#text = new TextIndex(saved?.text)
    this.#hits = new HitStore(saved?.hits)
    this.#orders = new Orders(this.#docs, saved?.orders)
  }

  get size(): number {
    return this.#docs.liveCount
  }

  /** Places in the index, those of dead documents included. */
  get slots(): number {
    return this.#docs.docCount
  }

  /** Applies changes in order; those no newer than what their project has change nothing. */
  apply(changes: readonly SearchChange[]): void {
    this.#remembered.clear()
    try {
      for (const change of changes) {
        const id = change.kind === 'upsert' ? change.document.id : change.id
        if (change.sequence > this.#docs.lastSequence(id)) this.#applyOne(id, change)
        this.sequence = Math.max(this.sequence, change.sequence)
      }
    } finally {
      this.#text.finishBatch()
      this.#orders.finishBatch()
    }
    this.#compactIfWorthIt()
  }

  /** Writes the response body; gives the number of all hits. */
  search(query: SearchQuery, out: ByteWriter): number {
    const sources = { docs: this.#docs, facets: this.#facets }
    this.#pools.docs.reset(this.#docs.docCount)
    this.#pools.versions.reset(this.#docs.versionCount)
    const classes = this.#text.search(query.text, this.#docs.live, this.#pools.docs) ?? [this.#all()]
    const sets = query.sort === 'relevance' ? classes : [this.#merged(classes)]
    const plan = makePlan(query.filter, sources)
    narrow(sets, { plan, key: JSON.stringify(query.filter), remembered: this.#remembered }, sources, this.#pools)
    const { docs, total } = takePage(sets, this.#orders.get(query.sort), query)
    out.text('{"hits":[')
    for (const [i, doc] of docs.entries()) {
      if (i > 0) out.text(',')
      this.#hits.write(out, doc, plan.isProject ? undefined : newestHolding(plan, sources, doc))
    }
    const page = Math.floor(query.offset / query.limit) + 1
    out.text(`],"page":${page},"hits_per_page":${query.limit},"total_hits":${total}}`)
    return total
  }

  /** The whole state as arrays that are still in use: write them out before the next change. */
  save(): SavedEngine {
    return {
      sequence: this.sequence,
      docs: this.#docs.save(),
      facets: this.#facets.save(),
      text: this.#text.save(),
      hits: this.#hits.save(),
      orders: this.#orders.save(),
    }
  }

  #applyOne(id: string, change: SearchChange): void {
    const old = this.#docs.find(id)
    if (change.kind === 'delete') {
      this.#docs.recordSequence(id, change.sequence)
      if (old !== undefined) this.#docs.kill(old)
      return
    }
    const { document } = change
    checkDocument(document)
    const versions = newestFirst(document.versions)
    const isSame = old !== undefined && this.#docs.columns.fingerprint[old] === fingerprint(document)
    const slot = isSame ? old : this.#docs.docCount
    const firstVersion = isSame ? (this.#docs.versionStart[old] ?? 0) : this.#docs.versionCount
    // First, because it refuses what is too large.
    this.#hits.set(slot, firstVersion, document, versions)
    this.#docs.recordSequence(id, change.sequence)
    if (isSame) {
      this.#orders.setCounts(slot, document)
      return
    }
    if (old !== undefined) this.#docs.kill(old)
    this.#docs.append(document, versions)
    this.#facets.add(slot, firstVersion, document, versions)
    this.#text.add(slot, document)
    this.#orders.add(slot)
  }

  #all(): Bits {
    const all = this.#pools.docs.take()
    unite(all, this.#docs.live)
    return all
  }

  #merged(sets: readonly Bits[]): Bits {
    const merged = this.#pools.docs.take()
    for (const set of sets) unite(merged, set)
    return merged
  }

  #compactIfWorthIt(): void {
    const dead = this.#docs.docCount - this.#docs.liveCount
    const isWorthIt =
      (dead >= this.#minDeadSlots && dead * 4 >= this.#docs.liveCount) ||
      (this.#hits.garbageBytes >= MIN_GARBAGE_BYTES && this.#hits.garbageBytes * 3 >= this.#hits.bytes)
    if (!isWorthIt) return
    const newDocs = new Uint32Array(this.#docs.docCount).fill(DROPPED)
    let next = 0
    for (let doc = 0; doc < newDocs.length; doc += 1) {
      if (((this.#docs.live[doc >>> 5] ?? 0) >>> (doc & 31)) & 1) {
        newDocs[doc] = next
        next += 1
      }
    }
    const newVersions = this.#docs.newVersionSlots(newDocs)
    this.#facets.compact(newDocs, newVersions)
    this.#text.compact(newDocs)
    this.#hits = this.#hits.remapped(newDocs, newVersions)
    this.#docs = this.#docs.remapped(newDocs)
    this.#orders = this.#orders.remapped(this.#docs, newDocs)
  }
}

/** What the sort orders rely on. */
function checkDocument(document: SearchDocument): void {
  const dates = [document.date_created, document.date_modified, ...document.versions.map((v) => v.date_published)]
  const numbers = [document.downloads, document.follows, ...dates.map((date) => Date.parse(date))]
  if (numbers.every((number) => Number.isFinite(number))) return
  throw new ApiError('search_error', `Project ${document.id} has a date or a count that is not one`)
}
