// One row per indexed project and per version: numbers, dates and identifiers in columns. A changed project gets new
// slots at the end and its old ones die; the slots of its versions are neighbours, newest first.
import { hash } from 'node:crypto'
import type { SearchDocument, SearchVersion } from '../document.ts'
import { type Bits, clearBit, setBit } from './bits.ts'
import { withLength } from './memory.ts'
import { DROPPED } from './postings.ts'
import { type SavedTable, StringTable } from './string-table.ts'

/** Columns per document slot; dates in milliseconds; the fingerprint is that of all but the counts. */
const COLUMN_NAMES = ['downloads', 'follows', 'created', 'modified', 'freshness', 'fingerprint'] as const
export type DocColumn = (typeof COLUMN_NAMES)[number]

type Columns = Record<DocColumn, Float64Array<ArrayBuffer>>

export type SavedDocs = {
  ids: SavedTable
  slotOfId: Uint32Array<ArrayBuffer>
  sequenceOfId: Float64Array<ArrayBuffer>
  idOfDoc: Uint32Array<ArrayBuffer>
  versionStart: Uint32Array<ArrayBuffer>
  docOfVersion: Uint32Array<ArrayBuffer>
  published: Float64Array<ArrayBuffer>
  live: Bits
  columns: Columns
  docCount: number
  versionCount: number
  liveCount: number
}

const NO_SLOT = 0xffffffff

/** The table's state is open to the engine's parts; only its own functions change it. */
export class DocTable {
  /** Project IDs ever seen, deleted ones too: their sequence numbers keep old changes out. */
  readonly ids: StringTable
  slotOfId: Uint32Array<ArrayBuffer>
  sequenceOfId: Float64Array<ArrayBuffer>
  idOfDoc: Uint32Array<ArrayBuffer>
  /** First version slot of each document, and one past the last document's last. */
  versionStart: Uint32Array<ArrayBuffer>
  docOfVersion: Uint32Array<ArrayBuffer>
  /** Milliseconds; NaN for the place that a project without versions has. */
  published: Float64Array<ArrayBuffer>
  live: Bits
  columns: Columns
  docCount: number
  versionCount: number
  liveCount: number

  constructor(saved?: SavedDocs) {
    this.ids = new StringTable(saved?.ids)
    this.slotOfId = saved?.slotOfId ?? new Uint32Array(64)
    this.sequenceOfId = saved?.sequenceOfId ?? new Float64Array(64)
    this.idOfDoc = saved?.idOfDoc ?? new Uint32Array(64)
    this.versionStart = saved?.versionStart ?? new Uint32Array(64)
    this.docOfVersion = saved?.docOfVersion ?? new Uint32Array(64)
    this.published = saved?.published ?? new Float64Array(64)
    this.live = saved?.live ?? new Uint32Array(64)
    this.columns = saved?.columns ?? mapColumns(() => new Float64Array(64))
    this.docCount = saved?.docCount ?? 0
    this.versionCount = saved?.versionCount ?? 0
    this.liveCount = saved?.liveCount ?? 0
  }

  /** The sequence number of the last change applied to that project, a deletion included; -1 for none. */
  lastSequence(id: string): number {
    const code = this.ids.find(id)
    return code < 0 ? -1 : (this.sequenceOfId[code] ?? -1)
  }

  recordSequence(id: string, sequence: number): void {
    const known = this.ids.size
    const code = this.ids.intern(id)
    this.slotOfId = withLength(this.slotOfId, code + 1)
    this.sequenceOfId = withLength(this.sequenceOfId, code + 1)
    if (code === known) this.slotOfId[code] = NO_SLOT
    this.sequenceOfId[code] = sequence
  }

  /** The live slot of a project. */
  find(id: string): number | undefined {
    const code = this.ids.find(id)
    const slot = code < 0 ? NO_SLOT : (this.slotOfId[code] ?? NO_SLOT)
    return slot === NO_SLOT ? undefined : slot
  }

  kill(doc: number): void {
    clearBit(this.live, doc)
    this.slotOfId[this.idOfDoc[doc] ?? 0] = NO_SLOT
    this.liveCount -= 1
  }

  /** Appends a project whose sequence is recorded, and its versions, sorted newest first; gives its slot. */
  append(document: SearchDocument, versions: readonly SearchVersion[]): number {
    const doc = this.docCount
    const first = this.versionCount
    this.docCount += 1
    this.versionCount += Math.max(1, versions.length)
    this.#reserve()
    this.versionStart[doc + 1] = this.versionCount
    this.docOfVersion.fill(doc, first, this.versionCount)
    this.published[first] = Number.NaN
    for (const [i, version] of versions.entries()) this.published[first + i] = Date.parse(version.date_published)
    const code = this.ids.intern(document.id)
    this.idOfDoc[doc] = code
    this.slotOfId[code] = doc
    setBit(this.live, doc)
    this.liveCount += 1
    this.columns.created[doc] = Date.parse(document.date_created)
    this.columns.modified[doc] = Date.parse(document.date_modified)
    // The date of the newest version; that of creation where there is none.
    this.columns.freshness[doc] = Date.parse(versions[0]?.date_published ?? document.date_created)
    this.columns.fingerprint[doc] = fingerprint(document)
    this.setCounts(doc, document)
    return doc
  }

  setCounts(doc: number, counts: { downloads: number; follows: number }): void {
    this.columns.downloads[doc] = counts.downloads
    this.columns.follows[doc] = counts.follows
  }

  /** A copy without the dead, given where each document slot goes. */
  remapped(newDocs: Uint32Array<ArrayBuffer>): DocTable {
    const copy = new DocTable({ ...this.#emptyState() })
    for (let doc = 0; doc < this.docCount; doc += 1) {
      const to = newDocs[doc] ?? DROPPED
      if (to === DROPPED) continue
      const [start, end] = [this.versionStart[doc] ?? 0, this.versionStart[doc + 1] ?? 0]
      const first = copy.versionCount
      copy.docCount += 1
      copy.versionCount += end - start
      copy.#reserve()
      copy.versionStart[to + 1] = copy.versionCount
      copy.docOfVersion.fill(to, first, copy.versionCount)
      copy.published.set(this.published.subarray(start, end), first)
      const code = this.idOfDoc[doc] ?? 0
      copy.idOfDoc[to] = code
      copy.slotOfId[code] = to
      setBit(copy.live, to)
      for (const name of COLUMN_NAMES) copy.columns[name][to] = this.columns[name][doc] ?? 0
    }
    copy.liveCount = copy.docCount
    return copy
  }

  /** Where each version slot goes, given where its document goes. */
  newVersionSlots(newDocs: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
    const slots = new Uint32Array(this.versionCount).fill(DROPPED)
    let next = 0
    for (let version = 0; version < this.versionCount; version += 1) {
      if (newDocs[this.docOfVersion[version] ?? 0] === DROPPED) continue
      slots[version] = next
      next += 1
    }
    return slots
  }

  save(): SavedDocs {
    return {
      ...this.#state(),
      ids: this.ids.save(),
      slotOfId: this.slotOfId.subarray(0, this.ids.size),
      sequenceOfId: this.sequenceOfId.subarray(0, this.ids.size),
    }
  }

  #state(): Omit<SavedDocs, 'ids'> {
    const { docCount, versionCount, liveCount, slotOfId, sequenceOfId } = this
    return {
      docCount,
      versionCount,
      liveCount,
      slotOfId,
      sequenceOfId,
      idOfDoc: this.idOfDoc.subarray(0, docCount),
      versionStart: this.versionStart.subarray(0, docCount + 1),
      docOfVersion: this.docOfVersion.subarray(0, versionCount),
      published: this.published.subarray(0, versionCount),
      live: this.live.subarray(0, (docCount + 31) >>> 5),
      columns: mapColumns((name) => this.columns[name].subarray(0, docCount)),
    }
  }

  #emptyState(): SavedDocs {
    const empty = new DocTable()
    return { ...empty.#state(), ids: this.ids.save(), slotOfId: this.slotOfId.slice(), sequenceOfId: this.sequenceOfId }
  }

  #reserve(): void {
    const { docCount, versionCount } = this
    this.idOfDoc = withLength(this.idOfDoc, docCount)
    this.versionStart = withLength(this.versionStart, docCount + 1)
    this.live = withLength(this.live, (docCount + 31) >>> 5)
    this.docOfVersion = withLength(this.docOfVersion, versionCount)
    this.published = withLength(this.published, versionCount)
    for (const name of COLUMN_NAMES) this.columns[name] = withLength(this.columns[name], docCount)
  }
}

function mapColumns(make: (name: DocColumn) => Float64Array<ArrayBuffer>): Columns {
  return Object.fromEntries(COLUMN_NAMES.map((name) => [name, make(name)])) as Columns
}

/** 48 bits over all that is indexed except the counts, which change without the rest. */
export function fingerprint(document: SearchDocument): number {
  return hash('sha1', JSON.stringify({ ...document, downloads: 0, follows: 0 }), 'buffer').readUIntBE(0, 6)
}
