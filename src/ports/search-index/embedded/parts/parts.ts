// The parts of an index and the changes that apply to all of them.
import { ApiError } from '#lib/errors.ts'
import type { Content, PreparedChange } from '../prepare.ts'
import { TextIndex } from '../text/text-index.ts'
import { DocTable } from './doc-table.ts'
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
export function applyChange(parts: Parts, change: PreparedChange): void {
  if (change.sequence > parts.docs.lastSequence(change.id)) applyNewer(parts, change)
}

export function finishChanges({ text, orders }: Parts): void {
  text.finishBatch()
  orders.finishBatch()
}

function applyNewer(parts: Parts, change: PreparedChange): void {
  const { docs, hits, orders } = parts
  const { id } = change
  const old = docs.find(id)
  if (change.kind === 'delete') {
    docs.recordSequence(id, change.sequence)
    if (old !== undefined) kill(parts, old)
    return
  }
  checkNumbers(id, [change.downloads, change.follows])
  if (old !== undefined && docs.columns.fingerprint[old] === change.fingerprint) {
    hits.setRecord(old, change)
    docs.recordSequence(id, change.sequence)
    orders.setCounts(old, change)
    return
  }
  const content: Content = JSON.parse(change.content)
  const { dates } = content
  checkNumbers(id, [dates.created, dates.modified, dates.fresh, ...dates.published])
  const slot = docs.docCount
  const firstVersion = docs.versionCount
  // First, because it rejects documents that are too large.
  hits.setRecord(slot, change)
  hits.setVersions(firstVersion, content)
  docs.recordSequence(id, change.sequence)
  if (old !== undefined) kill(parts, old)
  docs.append(change, dates)
  parts.facets.add(slot, firstVersion, content)
  parts.text.add(slot, content.text)
  orders.add(slot)
}

function kill({ docs, hits, orders }: Parts, doc: number): void {
  orders.remove(doc)
  hits.remove(doc)
  docs.kill(doc)
}

/** The sort orders need finite numbers. */
function checkNumbers(id: string, numbers: readonly number[]): void {
  if (!numbers.every(Number.isFinite)) throw new ApiError('search_error', `Project ${id} has an invalid date or count`)
}
