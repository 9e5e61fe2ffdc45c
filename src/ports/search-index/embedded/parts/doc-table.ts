// One row per indexed project and per version: numbers, dates and identifiers in columns. A changed project gets new
// slots at the end, and its old slots are dead. The slots of its versions are adjacent, in the order of its list.
import type { Content, PreparedUpsert } from '../prepare.ts'
import { type Bits, clearBit, setBit } from '../storage/bits.ts'
import { withLength } from '../storage/memory.ts'
import { gather, inSteps, type NewSlots } from '../storage/new-slots.ts'
import { StringTable } from '../storage/string-table.ts'

/** Columns per document slot; dates in milliseconds. The fingerprint covers everything except the counts. */
const COLUMN_NAMES = ['downloads', 'follows', 'created', 'modified', 'freshness', 'fingerprint'] as const
export type DocColumn = (typeof COLUMN_NAMES)[number]

const NO_SLOT = 0xffffffff

/** The other parts of the engine can read the fields; only the methods change them. */
export class DocTable {
  /** All project IDs, including deleted projects, whose sequence numbers prevent older changes. */
  ids: StringTable
  slotOfId = new Uint32Array(64).fill(NO_SLOT)
  sequenceOfId = new Float64Array(64).fill(-1)
  idOfDoc = new Uint32Array(64)
  /** First version slot of each document, and the end of the last document. */
  versionStart = new Uint32Array(64)
  docOfVersion = new Uint32Array(64)
  /** Milliseconds; NaN for the slot of a project without versions. */
  published = new Float64Array(64)
  live: Bits = new Uint32Array(64)
  columns = mapColumns(() => new Float64Array(64))
  docCount = 0
  versionCount = 0
  liveCount = 0
  /** Incremented with each change of a count in place. */
  countsRevision = 0

  constructor(saved?: ReturnType<DocTable['save']>) {
    const { ids, ...columns } = saved ?? {}
    this.ids = new StringTable(ids)
    Object.assign(this, columns satisfies Partial<DocTable>)
  }

  /** Returns the sequence number of the last change or deletion of the project; -1 if there is none. */
  lastSequence(id: string): number {
    const code = this.ids.find(id)
    return code < 0 ? -1 : (this.sequenceOfId[code] ?? -1)
  }

  recordSequence(id: string, sequence: number): void {
    const code = this.ids.intern(id)
    const slots = this.slotOfId.length
    this.slotOfId = withLength(this.slotOfId, code + 1)
    // A copy of the table can have assigned codes that have no slot or sequence here.
    if (this.slotOfId.length > slots) this.slotOfId.fill(NO_SLOT, slots)
    const sequences = this.sequenceOfId.length
    this.sequenceOfId = withLength(this.sequenceOfId, code + 1)
    if (this.sequenceOfId.length > sequences) this.sequenceOfId.fill(-1, sequences)
    this.sequenceOfId[code] = sequence
  }

  /** Returns the live slot of a project. */
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

  /** Appends a project, whose sequence must be recorded, and slots for its versions. Returns the slot of the project. */
  append(document: PreparedUpsert, { created, modified, fresh, published }: Content['dates']): number {
    const doc = this.docCount
    const first = this.versionCount
    this.docCount += 1
    this.versionCount += Math.max(1, published.length)
    this.#reserve()
    this.versionStart[doc + 1] = this.versionCount
    this.docOfVersion.fill(doc, first, this.versionCount)
    this.published[first] = Number.NaN
    this.published.set(published, first)
    const code = this.ids.intern(document.id)
    this.idOfDoc[doc] = code
    this.slotOfId[code] = doc
    setBit(this.live, doc)
    this.liveCount += 1
    this.columns.created[doc] = created
    this.columns.modified[doc] = modified
    // The date of the last version; without versions, the date of creation.
    this.columns.freshness[doc] = fresh
    this.columns.fingerprint[doc] = document.fingerprint
    this.columns.downloads[doc] = document.downloads
    this.columns.follows[doc] = document.follows
    return doc
  }

  setCounts(doc: number, counts: { downloads: number; follows: number }): void {
    this.countsRevision += 1
    this.columns.downloads[doc] = counts.downloads
    this.columns.follows[doc] = counts.follows
  }

  /** Copies the table without dead slots; the copy shares the IDs. Copies columns that can change before the first yield. */
  *remapped(slots: NewSlots): Generator<void, DocTable> {
    const copy = new DocTable()
    copy.ids = this.ids
    copy.sequenceOfId = this.sequenceOfId.slice(0, this.ids.size)
    copy.slotOfId = this.slotOfId.slice(0, this.ids.size)
    const columns = {
      ...this.columns,
      downloads: this.columns.downloads.slice(),
      follows: this.columns.follows.slice(),
    }
    yield
    for (const name of COLUMN_NAMES) {
      copy.columns[name] = new Float64Array(slots.docs.length)
      copy.docCount = yield* gather(copy.columns[name], columns[name], slots.docs)
    }
    copy.idOfDoc = new Uint32Array(slots.docs.length)
    yield* gather(copy.idOfDoc, this.idOfDoc, slots.docs)
    copy.published = new Float64Array(slots.versions.length)
    copy.versionCount = yield* gather(copy.published, this.published, slots.versions)
    copy.docOfVersion = new Uint32Array(slots.versions.length)
    yield* gather(copy.docOfVersion, this.docOfVersion, slots.versions)
    yield* copy.#renumber(slots.docs)
    return copy
  }

  /** Replaces document slots by the new numbers. */
  *#renumber(newDocs: Uint32Array<ArrayBuffer>): Generator<void> {
    yield* inSteps(this.slotOfId.length, (code) => {
      this.slotOfId[code] = newDocs[this.slotOfId[code] ?? NO_SLOT] ?? NO_SLOT
    })
    this.versionStart = new Uint32Array(this.docCount + 1)
    yield* inSteps(this.versionCount, (version) => {
      const doc = newDocs[this.docOfVersion[version] ?? 0] ?? 0
      this.docOfVersion[version] = doc
      this.versionStart[doc + 1] = version + 1
    })
    this.liveCount = this.docCount
    this.live = new Uint32Array((this.docCount >>> 5) + 1)
    for (let doc = 0; doc < this.docCount; doc += 1) setBit(this.live, doc)
  }

  save() {
    const { docCount, versionCount, liveCount, ids } = this
    return {
      ids: ids.save(),
      slotOfId: this.slotOfId.subarray(0, ids.size),
      sequenceOfId: this.sequenceOfId.subarray(0, ids.size),
      idOfDoc: this.idOfDoc.subarray(0, docCount),
      versionStart: this.versionStart.subarray(0, docCount + 1),
      docOfVersion: this.docOfVersion.subarray(0, versionCount),
      published: this.published.subarray(0, versionCount),
      live: this.live.subarray(0, (docCount + 31) >>> 5),
      columns: mapColumns((name) => this.columns[name].subarray(0, docCount)),
      docCount,
      versionCount,
      liveCount,
    }
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

function mapColumns(make: (name: DocColumn) => Float64Array<ArrayBuffer>) {
  return Object.fromEntries(COLUMN_NAMES.map((name) => [name, make(name)])) as Record<
    DocColumn,
    Float64Array<ArrayBuffer>
  >
}
