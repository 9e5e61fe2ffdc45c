import { withLength } from './memory.ts'

/** Number of strings whose codes are cached in a map. */
const MAX_COMMON = 8192

const encoder = new TextEncoder()
const decoder = new TextDecoder()
let scratch = new Uint8Array(1024)

/** Encodes as UTF-8 into a buffer that the next call overwrites. */
export function encode(text: string): Uint8Array<ArrayBuffer> {
  if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 4)
  let length = 0
  for (; length < text.length; length += 1) {
    const unit = text.charCodeAt(length)
    if (unit > 127) return scratch.subarray(0, encoder.encodeInto(text, scratch).written)
    scratch[length] = unit
  }
  return scratch.subarray(0, length)
}

/** An append-only list of UTF-8 strings, numbered from 0. Limit: 4 GiB in total. */
export class StringList {
  bytes: Uint8Array<ArrayBuffer>
  offsets: Uint32Array<ArrayBuffer>
  size: number

  constructor(saved?: ReturnType<StringList['save']>) {
    this.bytes = saved?.bytes ?? new Uint8Array(256)
    this.offsets = saved?.offsets ?? new Uint32Array(64)
    this.size = saved?.size ?? 0
  }

  push(text: Uint8Array<ArrayBuffer>): number {
    const start = this.offsets[this.size] ?? 0
    this.bytes = withLength(this.bytes, start + text.length)
    this.bytes.set(text, start)
    this.size += 1
    this.offsets = withLength(this.offsets, this.size + 1)
    this.offsets[this.size] = start + text.length
    return this.size - 1
  }

  get(index: number): string {
    return decoder.decode(this.bytes.subarray(this.offsets[index], this.offsets[index + 1]))
  }

  equals(index: number, text: Uint8Array<ArrayBuffer>): boolean {
    const start = this.offsets[index] ?? 0
    if ((this.offsets[index + 1] ?? 0) - start !== text.length) return false
    for (let i = 0; i < text.length; i += 1) if (this.bytes[start + i] !== text[i]) return false
    return true
  }

  /** Compares in byte order, which is code point order. */
  compare(a: number, b: number): number {
    let i = this.offsets[a] ?? 0
    let j = this.offsets[b] ?? 0
    const endA = this.offsets[a + 1] ?? 0
    const endB = this.offsets[b + 1] ?? 0
    for (; i < endA && j < endB; i += 1, j += 1) {
      const difference = (this.bytes[i] ?? 0) - (this.bytes[j] ?? 0)
      if (difference !== 0) return difference
    }
    return endA - i - (endB - j)
  }

  /** Returns 0 if the string has the prefix; < 0 if it sorts before all strings that have it, > 0 if after. */
  comparePrefix(index: number, prefix: Uint8Array<ArrayBuffer>): number {
    const start = this.offsets[index] ?? 0
    const length = (this.offsets[index + 1] ?? 0) - start
    for (let i = 0; i < prefix.length; i += 1) {
      if (i >= length) return -1
      const difference = (this.bytes[start + i] ?? 0) - (prefix[i] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  save() {
    return {
      bytes: this.bytes.subarray(0, this.offsets[this.size]),
      offsets: this.offsets.subarray(0, this.size + 1),
      size: this.size,
    }
  }
}

/** Maps strings to consecutive codes: an open-addressing hash table over a `StringList`. Codes are never freed. */
export class StringTable {
  readonly list: StringList
  /** Code + 1, or 0 if free. The length is a power of two. */
  #slots: Uint32Array<ArrayBuffer>
  readonly #common = new Map<string, number>()

  constructor(saved?: ReturnType<StringTable['save']>) {
    this.list = new StringList(saved)
    this.#slots = saved?.slots ?? new Uint32Array(256)
  }

  get size(): number {
    return this.list.size
  }

  /** Returns the code of `text`, or -1. */
  find(text: string): number {
    const bytes = encode(text)
    return (this.#slots[this.#probe(bytes)] ?? 0) - 1
  }

  /** Returns the code of `text`, which it adds if necessary. */
  intern(text: string): number {
    const bytes = encode(text)
    let slot = this.#probe(bytes)
    const entry = this.#slots[slot] ?? 0
    if (entry > 0) return entry - 1
    if ((this.list.size + 1) * 2 > this.#slots.length) {
      this.#rehash()
      slot = this.#probe(bytes)
    }
    const code = this.list.push(bytes)
    this.#slots[slot] = code + 1
    return code
  }

  /** As `intern`, with a cache of the first few thousand strings, for frequent strings. */
  internCommon(text: string): number {
    const cached = this.#common.get(text)
    if (cached !== undefined) return cached
    const code = this.intern(text)
    if (this.#common.size < MAX_COMMON) this.#common.set(text, code)
    return code
  }

  save() {
    return { ...this.list.save(), slots: this.#slots }
  }

  #probe(bytes: Uint8Array<ArrayBuffer>): number {
    const mask = this.#slots.length - 1
    for (let slot = hash(bytes, 0, bytes.length) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0
      if (entry === 0 || this.list.equals(entry - 1, bytes)) return slot
    }
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    const { bytes, offsets, size } = this.list
    for (let code = 0; code < size; code += 1) {
      let slot = hash(bytes, offsets[code] ?? 0, offsets[code + 1] ?? 0) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = code + 1
    }
    this.#slots = slots
  }
}

function hash(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): number {
  let h = 0x811c9dc5
  for (let i = start; i < end; i += 1) h = Math.imul(h ^ (bytes[i] ?? 0), 0x01000193)
  h ^= h >>> 15
  return Math.imul(h, 0x2c1b3c6d) ^ (h >>> 13)
}
