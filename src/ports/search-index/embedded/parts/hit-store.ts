// The hits, ready to be sent: of each project the JSON values, with the keys put between them on the way out.

import { invalidInput } from '#lib/errors.ts'
import { MAX_DOCUMENT_BYTES, type SearchDocument, type SearchVersion } from '#ports/search-index/document.ts'
import { HIT_TEMPLATE, hitValues } from '#ports/search-index/hit.ts'
import { Arena, withLength } from '../storage/memory.ts'
import { DROPPED, gather, type NewSlots, stretches } from '../storage/new-slots.ts'
import { encode } from '../storage/string-table.ts'

/** Blocks of 4 MiB, the largest record there may be. */
const BLOCK_SHIFT = 22
/** Between two values; JSON text never holds it. */
const SEPARATOR = 0

const utf8 = new TextEncoder()
/** A value that two keys have comes again right after its first time, so that a record is read from end to end. */
const PARTS = HIT_TEMPLATE.map(([before, value], i) => ({
  before: utf8.encode(before),
  isVersion: value === 'version',
  isAgain: HIT_TEMPLATE[i - 1]?.[1] === value,
  // Inside the object the tail has no leading comma.
  skip: before.endsWith('{') && value === 'fields' ? 1 : 0,
}))
const TEMPLATE_BYTES = PARTS.reduce((sum, { before }) => sum + before.length, 1)
const NULL = utf8.encode('null')
const QUOTE = 0x22
const CLOSE = 0x7d

export type SavedHits = {
  blocks: Uint8Array<ArrayBuffer>[]
  end: number
  addresses: Float64Array<ArrayBuffer>
  lengths: Uint32Array<ArrayBuffer>
  versionIds: Uint8Array<ArrayBuffer>
  size: number
}

/** IDs are at most 11 base62 characters: their length, then the characters. */
const ID_WIDTH = 12

/** Bytes placed before blocks are looked through for unused ones, and how full a block may be to be emptied. */
const MIN_TIDY_BYTES = 32 * 1024 * 1024
const MAX_USED_SHARE = 2 / 3

export class HitStore {
  #arena: Arena<Uint8Array<ArrayBuffer>>
  #addresses: Float64Array<ArrayBuffer>
  /** 0 where there is no record. */
  #lengths: Uint32Array<ArrayBuffer>
  #versionIds: Uint8Array<ArrayBuffer>
  #size: number
  /** The original of this copy still shows the records, so that none may be written over. */
  #isShared = false
  /** Bytes of the records that were placed since blocks were last looked through. */
  #placedBytes = 0

  constructor(saved?: SavedHits) {
    this.#arena = new Arena((length) => new Uint8Array(length), BLOCK_SHIFT, saved)
    this.#addresses = saved?.addresses ?? new Float64Array(64)
    this.#lengths = saved?.lengths ?? new Uint32Array(64)
    this.#versionIds = saved?.versionIds ?? new Uint8Array(64)
    this.#size = saved?.size ?? 0
  }

  /** Sets the record of a slot; `versions` newest first, the first of them at `firstVersion`. */
  set(doc: number, firstVersion: number, document: SearchDocument, versions: readonly SearchVersion[]): void {
    this.#place(doc, encode(`${hitValues(document, versions).join('\0')}\0`))
    this.#versionIds = withLength(this.#versionIds, (firstVersion + Math.max(1, versions.length)) * ID_WIDTH)
    this.#versionIds[firstVersion * ID_WIDTH] = 0
    for (let i = 0; i < versions.length; i += 1) {
      const { id } = versions[i] as SearchVersion
      const start = (firstVersion + i) * ID_WIDTH
      if (id.length >= ID_WIDTH) throw invalidInput(`version ID ${id} is too long`)
      this.#versionIds[start] = id.length
      for (let k = 0; k < id.length; k += 1) this.#versionIds[start + 1 + k] = id.charCodeAt(k)
    }
  }

  /** The record of a dead slot goes. */
  remove(doc: number): void {
    this.#lengths[doc] = 0
  }

  /** Appends one hit as JSON. `version` names another version than the usual one. */
  write(out: ByteWriter, doc: number, version: number | undefined): void {
    const address = this.#addresses[doc] ?? 0
    const block = this.#arena.block(address)
    const to = out.reserve(TEMPLATE_BYTES + 2 * ((this.#lengths[doc] ?? 0) + ID_WIDTH + 4))
    let at = out.length
    let from = this.#arena.offset(address)
    let valueStart = from
    for (const { before, isAgain, isVersion, skip } of PARTS) {
      for (let i = 0; i < before.length; i += 1, at += 1) to[at] = before[i] as number
      if (isAgain) from = valueStart
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

  /** A copy for the new slots, which shares the records until `takeOver`. */
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
    for (const stretch of stretches(slots.versions.length)) {
      for (let version = stretch.start; version < stretch.end; version += 1) {
        if (slots.versions[version] === DROPPED) continue
        for (let i = version * ID_WIDTH; i < (version + 1) * ID_WIDTH; i += 1, end += 1) {
          copy.#versionIds[end] = this.#versionIds[i] as number
        }
      }
      yield
    }
    return copy
  }

  /** The original is not used any more. */
  takeOver(): void {
    this.#isShared = false
  }

  /** Empties one block that is largely unused into others, where much is unused in all; whether there may be more. */
  tidy(): boolean {
    if (this.#placedBytes < MIN_TIDY_BYTES) return false
    const size = 2 ** BLOCK_SHIFT
    const { blocks, end } = this.#arena
    const used = new Float64Array(blocks.length)
    for (let doc = 0; doc < this.#size; doc += 1) {
      const block = this.#arena.blockOf(this.#addresses[doc] ?? 0)
      used[block] = (used[block] ?? 0) + (this.#lengths[doc] ?? 0)
    }
    const isWorthIt = (block: number) =>
      blocks[block]?.length === size && block !== this.#arena.blockOf(end) && (used[block] ?? 0) < MAX_USED_SHARE * size
    const emptied = blocks.findIndex((_, block) => isWorthIt(block))
    if (emptied < 0) {
      this.#placedBytes = 0
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

  save(): SavedHits {
    return {
      blocks: this.#arena.blocks,
      end: this.#arena.end,
      addresses: this.#addresses.subarray(0, this.#size),
      lengths: this.#lengths.subarray(0, this.#size),
      versionIds: this.#versionIds,
      size: this.#size,
    }
  }

  #place(doc: number, record: Uint8Array): void {
    if (record.length > MAX_DOCUMENT_BYTES)
      throw invalidInput(`A project takes over ${MAX_DOCUMENT_BYTES} bytes in the index`)
    const room = doc < this.#size ? (this.#lengths[doc] ?? 0) : 0
    // A changed count seldom changes the length, so most records stay where they are.
    const isRoomEnough = record.length <= room && !this.#isShared
    const address = isRoomEnough ? (this.#addresses[doc] ?? 0) : this.#arena.allocate(record.length)
    this.#arena.block(address).set(record, this.#arena.offset(address))
    this.#addresses = withLength(this.#addresses, doc + 1)
    this.#lengths = withLength(this.#lengths, doc + 1)
    if (!isRoomEnough) this.#placedBytes += record.length
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

/** Bytes of an answer; grows as needed, used again for the next. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(65_536)
  length = 0

  /** The bytes, with room for `length` more after those written; the caller moves `this.length`. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    this.#bytes = withLength(this.#bytes, this.length + length)
    return this.#bytes
  }

  text(text: string): void {
    const bytes = encode(text)
    this.reserve(bytes.length).set(bytes, this.length)
    this.length += bytes.length
  }

  /** What was written, as bytes of their own; the writer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.slice(0, this.length)
    this.length = 0
    return bytes
  }
}
