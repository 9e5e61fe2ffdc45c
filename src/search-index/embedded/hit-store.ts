// The hits, ready to be sent: of each project the JSON values, with the keys put between them on the way out.

import { invalidInput } from '#lib/errors.ts'
import {
  DEPENDENCY_TYPES,
  dependencyIds,
  MAX_DOCUMENT_BYTES,
  type SearchDocument,
  type SearchVersion,
  union,
} from '../document.ts'
import { Arena, withLength } from './memory.ts'
import { DROPPED } from './postings.ts'
import { encode } from './string-table.ts'

/** Blocks of 8 MiB. */
const BLOCK_SHIFT = 23
/** Between two values; JSON text never holds it. */
const SEPARATOR = 0
const SIDES = ['client_side', 'server_side']

/**
 * What a hit consists of, in its order: `"key":` with the value of the same or another name. `fields` is the flattened
 * tail `,"game_versions":[…],…`, which `project_loader_fields` shows again as an object.
 */
const TEMPLATE: readonly (readonly [before: string, value: string])[] = [
  ['{"version_id":', 'version'],
  [',"latest_version":', 'version'],
  [',"project_id":', 'project_id'],
  [',"project_types":', 'project_types'],
  [',"all_project_types":', 'project_types'],
  ...['slug', 'author', 'author_id', 'organization', 'organization_id', 'name', 'summary', 'categories'].map(plain),
  ...['display_categories', 'downloads', 'follows', 'icon_url', 'date_created', 'date_modified', 'license'].map(plain),
  ...['gallery', 'featured_gallery', 'color', 'dependency_project_ids'].map(plain),
  ...DEPENDENCY_TYPES.map((type) => plain(`${type}_dependency_project_ids`)),
  ...['dependencies', 'disclosure_types', 'loaders'].map(plain),
  [',"project_loader_fields":{', 'fields'],
  ['}', 'fields'],
  ['', 'sides'],
]
const NAMES = [...new Set(TEMPLATE.map(([, value]) => value))]
const VERSION = NAMES.indexOf('version')
const utf8 = new TextEncoder()
const PARTS = TEMPLATE.map(([before, value]) => ({
  before: utf8.encode(before),
  value: NAMES.indexOf(value),
  // Inside the object the tail has no leading comma.
  skip: before.endsWith('{') && value === 'fields' ? 1 : 0,
}))
const CLOSE = 0x7d

function plain(key: string): [string, string] {
  return [`,"${key}":`, key]
}

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

export class HitStore {
  readonly #arena: Arena<Uint8Array<ArrayBuffer>>
  #addresses: Float64Array<ArrayBuffer>
  #lengths: Uint32Array<ArrayBuffer>
  #versionIds: Uint8Array<ArrayBuffer>
  #size: number
  /** Bytes of records that were replaced. */
  garbageBytes = 0

  constructor(saved?: SavedHits) {
    this.#arena = new Arena((length) => new Uint8Array(length), BLOCK_SHIFT, saved)
    this.#addresses = saved?.addresses ?? new Float64Array(64)
    this.#lengths = saved?.lengths ?? new Uint32Array(64)
    this.#versionIds = saved?.versionIds ?? new Uint8Array(64)
    this.#size = saved?.size ?? 0
  }

  get bytes(): number {
    return this.#arena.end
  }

  /** Sets the record of a slot; `versions` newest first, the first of them at `firstVersion`. */
  set(doc: number, firstVersion: number, document: SearchDocument, versions: readonly SearchVersion[]): void {
    this.#place(doc, encode(hitValues(document, versions).join('\0')))
    this.#versionIds = withLength(this.#versionIds, (firstVersion + Math.max(1, versions.length)) * ID_WIDTH)
    this.#versionIds[firstVersion * ID_WIDTH] = 0
    for (const [i, version] of versions.entries()) {
      const start = (firstVersion + i) * ID_WIDTH
      const id = encode(version.id)
      if (id.length >= ID_WIDTH) throw invalidInput(`version ID ${version.id} is too long`)
      this.#versionIds[start] = id.length
      this.#versionIds.set(id, start + 1)
    }
  }

  /** Appends one hit as JSON. `version` names another version than the usual one. */
  write(out: ByteWriter, doc: number, version: number | undefined): void {
    const address = this.#addresses[doc] ?? 0
    const block = this.#arena.block(address)
    const start = this.#arena.offset(address)
    const bounds = valueBounds(block, start, start + (this.#lengths[doc] ?? 0))
    for (const part of PARTS) {
      out.copy(part.before, 0, part.before.length)
      if (part.value === VERSION && version !== undefined) this.#writeVersion(out, version)
      else {
        const from = bounds[part.value] ?? 0
        const to = (bounds[part.value + 1] ?? 0) - 1
        out.copy(block, Math.min(from + part.skip, to), to)
      }
    }
    out.byte(CLOSE)
  }

  remapped(newDocs: Uint32Array<ArrayBuffer>, newVersions: Uint32Array<ArrayBuffer>): HitStore {
    const copy = new HitStore()
    for (let doc = 0; doc < this.#size; doc += 1) {
      const to = newDocs[doc] ?? DROPPED
      if (to === DROPPED) continue
      const address = this.#addresses[doc] ?? 0
      const start = this.#arena.offset(address)
      copy.#place(to, this.#arena.block(address).subarray(start, start + (this.#lengths[doc] ?? 0)))
    }
    copy.#versionIds = new Uint8Array(this.#versionIds.length)
    for (const [version, to] of newVersions.entries()) {
      if (to === DROPPED) continue
      copy.#versionIds.set(this.#versionIds.subarray(version * ID_WIDTH, (version + 1) * ID_WIDTH), to * ID_WIDTH)
    }
    return copy
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
    const isRoomEnough = record.length <= room
    const address = isRoomEnough ? (this.#addresses[doc] ?? 0) : this.#arena.allocate(record.length)
    this.#arena.block(address).set(record, this.#arena.offset(address))
    this.#addresses = withLength(this.#addresses, doc + 1)
    this.#lengths = withLength(this.#lengths, doc + 1)
    this.garbageBytes += isRoomEnough ? room - record.length : room
    this.#addresses[doc] = address
    this.#lengths[doc] = record.length
    this.#size = Math.max(this.#size, doc + 1)
  }

  #writeVersion(out: ByteWriter, version: number): void {
    const start = version * ID_WIDTH
    const length = this.#versionIds[start] ?? 0
    const quote = length === 0 ? 'null' : '"'
    out.text(quote)
    out.copy(this.#versionIds, start + 1, start + 1 + length)
    if (length > 0) out.text(quote)
  }
}

/** Where each value begins; one more entry than values, so that a value ends one before the next begins. */
function valueBounds(block: Uint8Array, start: number, end: number): number[] {
  const bounds = [start]
  for (let i = start; i < end; i += 1) if (block[i] === SEPARATOR) bounds.push(i + 1)
  bounds.push(end + 1)
  return bounds
}

/** The JSON of each of `NAMES`. */
function hitValues(document: SearchDocument, versions: readonly SearchVersion[]): string[] {
  const usual = versions.find((version) => version.status === 'listed') ?? versions[0]
  const sides = Object.fromEntries(SIDES.map((side) => [side, union(versions.map((v) => v.fields[side] ?? [])).sort()]))
  const lists: Record<string, readonly unknown[]> = {
    project_types: union(versions.map((version) => version.project_types)).sort(),
    loaders: union(versions.map((version) => version.loaders)).sort(),
    categories: union([document.categories, ...versions.map((version) => version.categories)]).sort(),
    ...dependencyIds(document),
  }
  const single: Record<string, unknown> = { project_id: document.id, version: usual?.id ?? null }
  const own: Record<string, unknown> = document
  return NAMES.map((name) => {
    if (name === 'fields') return tail(document.fields)
    if (name === 'sides') return tail(sides)
    const value = single[name] ?? lists[name] ?? own[name] ?? null
    // Most values are these, and they need no call into the serialiser.
    if (value === null) return 'null'
    if (typeof value === 'number') return String(value)
    return Array.isArray(value) && value.length === 0 ? '[]' : JSON.stringify(value)
  })
}

/** Each list as `,"name":[…]`. */
function tail(lists: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(lists)
    .map(([name, list]) => `,${JSON.stringify(name)}:${JSON.stringify(list)}`)
    .join('')
}

/** Bytes of an answer; grows as needed, used again for the next. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(65_536)
  length = 0

  copy(from: Uint8Array, start: number, end: number): void {
    if (this.length + end - start > this.#bytes.length) this.#bytes = withLength(this.#bytes, this.length + end - start)
    const to = this.#bytes
    let at = this.length
    for (let i = start; i < end; i += 1, at += 1) to[at] = from[i] ?? 0
    this.length = at
  }

  byte(value: number): void {
    this.#bytes = withLength(this.#bytes, this.length + 1)
    this.#bytes[this.length] = value
    this.length += 1
  }

  text(text: string): void {
    const bytes = encode(text)
    this.copy(bytes, 0, bytes.length)
  }

  /** What was written, as bytes of their own; the writer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.slice(0, this.length)
    this.length = 0
    return bytes
  }
}
