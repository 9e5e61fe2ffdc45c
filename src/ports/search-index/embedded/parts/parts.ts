// The parts of an index and the changes that apply to all of them.
import { ApiError } from '#lib/errors.ts'
import { datedNewestFirst, type SearchDocument } from '#ports/search-index/document.ts'
import type { SearchChange } from '#ports/search-index/search-index.ts'
import { TextIndex } from '../text/text-index.ts'
import { type DocDates, DocTable, fingerprint } from './doc-table.ts'
import { FacetIndex } from './facet-index.ts'
import { HitStore } from './hit-store.ts'
import { Orders } from './orders.ts'

export type Parts = {
  readonly docs: DocTable
  readonly facets: FacetIndex
  readonly text: TextIndex
  readonly hits: HitStore
  readonly orders: Orders
}

export function makeParts(saved?: ReturnType<typeof saveParts>): Parts {
  const docs = new DocTable(saved?.docs)
  return {
    docs,
    facets: new FacetIndex(saved?.facets),
    text: new TextIndex(saved?.text),
    hits: new HitStore(saved?.hits),
    orders: new Orders(docs, saved?.orders),
  }
}

/** Returns the state without copying its arrays. */
export function saveParts({ docs, facets, text, hits, orders }: Parts) {
  return { docs: docs.save(), facets: facets.save(), text: text.save(), hits: hits.save(), orders: orders.save() }
}

/** Applies a change if it is newer than the last one of its project. Searches see it after `finishChanges`. */
export function applyChange(parts: Parts, change: SearchChange): void {
  const id = change.kind === 'upsert' ? change.document.id : change.id
  if (change.sequence > parts.docs.lastSequence(id)) applyNewer(parts, id, change)
}

export function finishChanges({ text, orders }: Parts): void {
  text.finishBatch()
  orders.finishBatch()
}

function applyNewer(parts: Parts, id: string, change: SearchChange): void {
  const { docs, hits, orders } = parts
  const old = docs.find(id)
  if (change.kind === 'delete') {
    docs.recordSequence(id, change.sequence)
    if (old !== undefined) kill(parts, old)
    return
  }
  const { document } = change
  const dated = datedNewestFirst(document.versions)
  const dates = {
    created: Date.parse(document.date_created),
    modified: Date.parse(document.date_modified),
    published: dated.map(({ at }) => at),
  }
  checkNumbers(document, dates)
  const versions = dated.map(({ version }) => version)
  const print = fingerprint(document)
  const isSame = old !== undefined && docs.columns.fingerprint[old] === print
  const slot = isSame ? old : docs.docCount
  const firstVersion = isSame ? (docs.versionStart[old] ?? 0) : docs.versionCount
  // First, because it rejects documents that are too large.
  hits.set(slot, firstVersion, document, versions)
  docs.recordSequence(id, change.sequence)
  if (isSame) {
    orders.setCounts(slot, document)
    return
  }
  if (old !== undefined) kill(parts, old)
  docs.append(document, dates, print)
  parts.facets.add(slot, firstVersion, document, versions)
  parts.text.add(slot, document)
  orders.add(slot)
}

function kill({ docs, hits, orders }: Parts, doc: number): void {
  orders.remove(doc)
  hits.remove(doc)
  docs.kill(doc)
}

/** The sort orders need finite numbers. */
function checkNumbers({ id, downloads, follows }: SearchDocument, { created, modified, published }: DocDates): void {
  const isSound = [downloads, follows, created, modified].every(Number.isFinite) && published.every(Number.isFinite)
  if (!isSound) throw new ApiError('search_error', `Project ${id} has an invalid date or count`)
}
