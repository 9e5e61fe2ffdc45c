// Stores the JSON values of each hit, and writes them with the keys between them.

import { invalidInput } from '#lib/errors.ts'
import { MAX_DOCUMENT_BYTES } from '#ports/search-index/document.ts'
import { HIT_TEMPLATE } from '#ports/search-index/hit.ts'
import type { Content, PreparedUpsert } from '../prepare.ts'
import { Arena, withLength } from '../storage/memory.ts'
import { DROPPED, gather, inSteps, type NewSlots } from '../storage/new-slots.ts'
import { encode } from '../storage/string-table.ts'

/** Blocks of 4 MiB, which is also the maximum size of a record. */
const BLOCK_SHIFT = 22
/** Separates two values; JSON cannot contain it. */
const SEPARATOR = 0

const utf8 = new TextEncoder()
/** If two keys have the same value, they are adjacent, so that a record is read once from start to end. */
const PARTS = HIT_TEMPLATE.map(([before, value], i) => ({
  before: utf8.encode(before),
  isVersion: value === 'version',
  isRepeated: HIT_TEMPLATE[i - 1]?.[1] === value,
  // At the start of an object, the value has no leading comma.
  skip: before.endsWith('{') && value === 'fields' ? 1 : 0,
}))
const TEMPLATE_BYTES = PARTS.reduce((sum, { before }) => sum + before.length, 1)
const NULL = utf8.encode('null')
const QUOTE = 0x22
const CLOSE = 0x7d

/** Length of an ID, then up to 11 base62 characters. */
const ID_WIDTH = 12

/** Bytes written between two searches for unused space, and the maximum share in use of a block to empty. */
const TIDY_AFTER_BYTES = 32 * 1024 * 1024
const MAX_USED_SHARE = 2 / 3

export class HitStore {
  #arena: Arena<Uint8Array<ArrayBuffer>>
  #addresses: Float64Array<ArrayBuffer>
  /** 0 without a record. */
  #lengths: Uint32Array<ArrayBuffer>
  #versionIds: Uint8Array<ArrayBuffer>
  #size: number
  /** Whether the original of this copy still reads the records, so that none can be overwritten. */
  #isShared = false
  /** Bytes written since the last search for unused space. */
  #writtenBytes = 0

  constructor(saved?: ReturnType<HitStore['save']>) {
    this.#arena = new Arena((length) => new Uint8Array(length), BLOCK_SHIFT, saved)
    this.#addresses = saved?.addresses ?? new Float64Array(64)
    this.#lengths = saved?.lengths ?? new Uint32Array(64)
    this.#versionIds = saved?.versionIds ?? new Uint8Array(64)
    this.#size = saved?.size ?? 0
  }

  setRecord(doc: number, { record }: Pick<PreparedUpsert, 'record'>): void {
    this.#writeRecord(doc, encode(record))
  }

  /** The versions have the slots from `firstVersion`. */
  setVersions(firstVersion: number, { versionIds }: Content): void {
    this.#versionIds = withLength(this.#versionIds, (firstVersion + Math.max(1, versionIds.length)) * ID_WIDTH)
    this.#versionIds[firstVersion * ID_WIDTH] = 0
    for (let i = 0; i < versionIds.length; i += 1) {
      // Without an ID, the hit has null.
      const id = versionIds[i] ?? ''
      const start = (firstVersion + i) * ID_WIDTH
      if (id.length >= ID_WIDTH) throw invalidInput(`version ID ${id} is too long`)
      this.#versionIds[start] = id.length
      for (let k = 0; k < id.length; k += 1) this.#versionIds[start + 1 + k] = id.charCodeAt(k)
    }
  }

  /** Removes the record of a dead slot. */
  remove(doc: number): void {
    this.#lengths[doc] = 0
  }

  /** Appends one hit as JSON. `version`: the version to show instead of the first one. */
  write(out: ByteWriter, doc: number, version: number | undefined): void {
    const address = this.#addresses[doc] ?? 0
    const block = this.#arena.block(address)
    const to = out.reserve(TEMPLATE_BYTES + 2 * ((this.#lengths[doc] ?? 0) + ID_WIDTH + 4))
    let at = out.length
    let from = this.#arena.offset(address)
    let valueStart = from
    for (const { before, isRepeated, isVersion, skip } of PARTS) {
      for (let i = 0; i < before.length; i += 1, at += 1) to[at] = before[i] as number
      if (isRepeated) from = valueStart
      else valueStart = from
      if (isVersion && version !== undefined) {
        at = this.#writeVersion(to, at, version)
        while (block[from] !== SEPARATOR) from += 1
      } else {
        if (block[from] !== SEPARATOR) from += skip
        for (let byte = block[from] as number; byte !== SEPARATOR; byte = block[from] as number) {
          to[at] = byte
          at += 1
          from += 1
        }
      }
      from += 1
    }
    to[at] = CLOSE
    out.length = at + 1
  }

  /** Copies the store for the new slots. The copy shares the records until `takeOver`. */
  *remapped(slots: NewSlots): Generator<void, HitStore> {
    const copy = new HitStore()
    copy.#arena = this.#arena
    copy.#isShared = true
    copy.#addresses = new Float64Array(slots.docs.length)
    copy.#size = yield* gather(copy.#addresses, this.#addresses, slots.docs)
    copy.#lengths = new Uint32Array(slots.docs.length)
    yield* gather(copy.#lengths, this.#lengths, slots.docs)
    copy.#versionIds = new Uint8Array(slots.versions.length * ID_WIDTH)
    let end = 0
    yield* inSteps(slots.versions.length, (version) => {
      if (slots.versions[version] === DROPPED) return
      for (let i = version * ID_WIDTH; i < (version + 1) * ID_WIDTH; i += 1, end += 1)
        copy.#versionIds[end] = this.#versionIds[i] as number
    })
    return copy
  }

  /** Must be called when the original is no longer used. */
  takeOver(): void {
    this.#isShared = false
  }

  /** Moves the records of one largely unused block to other blocks. Returns whether there could be more such blocks. */
  tidy(): boolean {
    if (this.#writtenBytes < TIDY_AFTER_BYTES) return false
    const size = 2 ** BLOCK_SHIFT
    const { blocks, end } = this.#arena
    const used = new Float64Array(blocks.length)
    for (let doc = 0; doc < this.#size; doc += 1) {
      const block = this.#arena.blockOf(this.#addresses[doc] ?? 0)
      used[block] = (used[block] ?? 0) + (this.#lengths[doc] ?? 0)
    }
    const isSparse = (block: number) =>
      blocks[block]?.length === size && block !== this.#arena.blockOf(end) && (used[block] ?? 0) < MAX_USED_SHARE * size
    const emptied = blocks.findIndex((_, block) => isSparse(block))
    if (emptied < 0) {
      this.#writtenBytes = 0
      return false
    }
    for (let doc = 0; doc < this.#size; doc += 1) {
      const address = this.#addresses[doc] ?? 0
      const length = this.#lengths[doc] ?? 0
      if (length === 0 || this.#arena.blockOf(address) !== emptied) continue
      const start = this.#arena.offset(address)
      const moved = this.#arena.allocate(length)
      this.#arena
        .block(moved)
        .set(this.#arena.block(address).subarray(start, start + length), this.#arena.offset(moved))
      this.#addresses[doc] = moved
    }
    this.#arena.release(emptied)
    return true
  }

  save() {
    return {
      blocks: this.#arena.blocks,
      end: this.#arena.end,
      addresses: this.#addresses.subarray(0, this.#size),
      lengths: this.#lengths.subarray(0, this.#size),
      versionIds: this.#versionIds,
      size: this.#size,
    }
  }

  #writeRecord(doc: number, record: Uint8Array): void {
    if (record.length > MAX_DOCUMENT_BYTES)
      throw invalidInput(`A project needs more than ${MAX_DOCUMENT_BYTES} bytes in the index`)
    const available = doc < this.#size ? (this.#lengths[doc] ?? 0) : 0
    // A changed count rarely changes the length, so that most records can be overwritten.
    const fits = record.length <= available && !this.#isShared
    const address = fits ? (this.#addresses[doc] ?? 0) : this.#arena.allocate(record.length)
    this.#arena.block(address).set(record, this.#arena.offset(address))
    this.#addresses = withLength(this.#addresses, doc + 1)
    this.#lengths = withLength(this.#lengths, doc + 1)
    if (!fits) this.#writtenBytes += record.length
    this.#addresses[doc] = address
    this.#lengths[doc] = record.length
    this.#size = Math.max(this.#size, doc + 1)
  }

  #writeVersion(to: Uint8Array, start: number, version: number): number {
    const from = version * ID_WIDTH
    const length = this.#versionIds[from] ?? 0
    if (length === 0) {
      to.set(NULL, start)
      return start + NULL.length
    }
    let at = start
    to[at] = QUOTE
    for (let i = 1; i <= length; i += 1) to[at + i] = this.#versionIds[from + i] ?? 0
    at += length + 1
    to[at] = QUOTE
    return at + 1
  }
}

/** A growing buffer for responses, which is reused. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(65_536)
  length = 0

  /** Returns the buffer, with space for `length` more bytes. The caller advances `this.length`. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    this.#bytes = withLength(this.#bytes, this.length + length)
    return this.#bytes
  }

  text(text: string): void {
    const bytes = encode(text)
    this.reserve(bytes.length).set(bytes, this.length)
    this.length += bytes.length
  }

  /** Returns a copy of the written bytes and empties the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.slice(0, this.length)
    this.length = 0
    return bytes
  }
}
