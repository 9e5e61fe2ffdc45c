// Finds the versions and projects with a value of a text field, and stores the numbers of live components.
import { type Content, VERSION_FIELDS } from '../prepare.ts'
import { withLength } from '../storage/memory.ts'
import { DROPPED, inSteps, type NewSlots } from '../storage/new-slots.ts'
import { Postings } from '../storage/postings.ts'
import { StringTable } from '../storage/string-table.ts'

/** Maximum number of numeric components with a column. Others have no values. */
const MAX_NUMBER_COLUMNS = 64

/** Number of cached codes per field. */
const MAX_CACHED_CODES = 4096

/** Key suffix for "has a value". */
const ANY = '?'

/**
 * A key is a field with a value. Its code has postings of document slots: for a version field, documents with the value
 * on some version. Codes of version fields also have postings of version slots.
 */
export class FacetIndex {
  #keys: StringTable
  /** Cached codes by field and value, so that frequent values need no key. */
  #cachedCodes = new Map<string, Map<string, number>>()
  versions: Postings
  docs: Postings
  /** Component numbers by field, NaN if missing. Can be shorter than the documents, if the last ones have none. */
  #numbers: Map<string, Float64Array<ArrayBuffer>>

  constructor(saved?: ReturnType<FacetIndex['save']>) {
    this.#keys = new StringTable(saved?.keys)
    this.versions = new Postings(saved?.versions)
    this.docs = new Postings(saved?.docs)
    this.#numbers = new Map(Object.entries(saved?.numbers ?? {}))
  }

  add(doc: number, firstVersion: number, { values, versions, components }: Content): void {
    for (const [field, list] of Object.entries(values)) this.#addValues(field, list, doc)
    for (const [i, lists] of versions.entries()) {
      for (const [k, list] of lists.entries()) this.#addValues(VERSION_FIELDS[k] ?? '', list, doc, firstVersion + i)
    }
    for (const [field, value] of Object.entries(components ?? {})) {
      if (typeof value === 'string') this.#addValues(field, [value], doc)
      else this.#setNumber(field, doc, value)
    }
  }

  /** Returns the codes of those values that occur. */
  codes(field: string, values: readonly string[]): number[] {
    return values.map((value) => this.#keys.find(`${field}=${value}`)).filter((code) => code >= 0)
  }

  /** Returns the code of "has a value"; -1 if no project has one. */
  anyCode(field: string): number {
    return this.#keys.find(field + ANY)
  }

  numbers(field: string): Float64Array<ArrayBuffer> {
    return this.#numbers.get(field) ?? new Float64Array(0)
  }

  /** Copies the index without dropped slots; the copy shares the keys. */
  *remapped(slots: NewSlots): Generator<void, FacetIndex> {
    const copy = new FacetIndex()
    copy.#keys = this.#keys
    copy.#cachedCodes = this.#cachedCodes
    copy.versions = yield* this.versions.remapped(slots.versions)
    copy.docs = yield* this.docs.remapped(slots.docs)
    for (const [field, column] of this.#numbers) {
      yield* inSteps(Math.min(column.length, slots.docs.length), (doc) => {
        const to = slots.docs[doc] ?? DROPPED
        const value = column[doc] ?? Number.NaN
        if (to !== DROPPED && !Number.isNaN(value)) copy.#setNumber(field, to, value)
      })
    }
    return copy
  }

  save() {
    return {
      keys: this.#keys.save(),
      versions: this.versions.save(),
      docs: this.docs.save(),
      numbers: Object.fromEntries(this.#numbers),
    }
  }

  /** `version`: the slot of the version with the values, for a field of versions. */
  #addValues(field: string, values: readonly string[], doc: number, version?: number): void {
    if (values.length === 0) return
    const codes = this.#codesOf(field)
    this.#addCode(codes.get(ANY) ?? 0, doc, version)
    const isCached = version !== undefined || REPETITIVE.has(field)
    for (const value of values) {
      const code = isCached ? this.#codeOf(field, value, codes) : this.#keys.intern(`${field}=${value}`)
      this.#addCode(code, doc, version)
    }
  }

  #codesOf(field: string): Map<string, number> {
    let codes = this.#cachedCodes.get(field)
    if (codes === undefined) {
      codes = new Map([[ANY, this.#keys.intern(field + ANY)]])
      this.#cachedCodes.set(field, codes)
    }
    return codes
  }

  #codeOf(field: string, value: string, codes: Map<string, number>): number {
    const cached = value === ANY ? undefined : codes.get(value)
    if (cached !== undefined) return cached
    const code = this.#keys.intern(`${field}=${value}`)
    if (codes.size < MAX_CACHED_CODES && value !== ANY) codes.set(value, code)
    return code
  }

  #addCode(code: number, doc: number, version: number | undefined): void {
    this.docs.add(code, doc)
    if (version !== undefined) this.versions.add(code, version)
  }

  #setNumber(field: string, doc: number, value: number): void {
    const old = this.#numbers.get(field)
    if (old === undefined && this.#numbers.size >= MAX_NUMBER_COLUMNS) return
    const column = withLength(old ?? new Float64Array(0), doc + 1)
    if (column !== old) this.#numbers.set(field, column.fill(Number.NaN, old?.length ?? 0))
    column[doc] = value
  }
}

/** Project fields with few different values. */
const REPETITIVE: ReadonlySet<string> = new Set([
  'license',
  'open_source',
  'all_project_types',
  'project_categories',
  'disclosure_types',
])
