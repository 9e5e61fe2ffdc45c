// Which versions and which projects carry a value of a text field, and the numbers of live components.
import { dependencyIds, type SearchDocument, type SearchVersion, union } from '#ports/search-index/document.ts'
import { authorKey } from '#ports/search-index/filter/fields.ts'
import { withLength } from '../storage/memory.ts'
import { DROPPED, type NewSlots, stretches } from '../storage/new-slots.ts'
import { Postings, type SavedPostings } from '../storage/postings.ts'
import { type SavedTable, StringTable } from '../storage/string-table.ts'

export type SavedFacets = {
  keys: SavedTable
  versions: SavedPostings
  docs: SavedPostings
  numbers: Record<string, Float64Array<ArrayBuffer>>
}

/** At most this many different number components get a column; further ones have no values. */
const MAX_NUMBER_COLUMNS = 64

/** Values of one field whose codes are remembered. */
const MAX_REMEMBERED = 4096

/** What stands for "has a value" among a field's keys. */
const ANY = '?'

/**
 * A key is a field with one of its values. Its code has postings of version slots when the field lives on versions, and
 * postings of document slots always: for a version field, the documents that have it on some version.
 */
export class FacetIndex {
  #keys: StringTable
  /** Codes by value for each field with few values: that makes no key of those that come again and again. */
  #knownCodes = new Map<string, Map<string, number>>()
  versions: Postings
  docs: Postings
  /** Component numbers by field, NaN where there is none; shorter than the documents when the last have none. */
  #numbers: Map<string, Float64Array<ArrayBuffer>>

  constructor(saved?: SavedFacets) {
    this.#keys = new StringTable(saved?.keys)
    this.versions = new Postings(saved?.versions)
    this.docs = new Postings(saved?.docs)
    this.#numbers = new Map(Object.entries(saved?.numbers ?? {}))
  }

  add(doc: number, firstVersion: number, document: SearchDocument, versions: readonly SearchVersion[]): void {
    const projectCategories = document.categories
    for (const [field, values] of projectValues(document)) this.#addValues(field, values, doc)
    // A project without versions has the place of one: its own categories count there.
    if (versions.length === 0) this.#addVersionValues('categories', projectCategories, doc, firstVersion)
    for (const [i, version] of versions.entries()) {
      const slot = firstVersion + i
      this.#addVersionValues('categories', projectCategories, doc, slot)
      this.#addVersionValues('categories', version.categories, doc, slot)
      this.#addVersionValues('loaders', version.loaders, doc, slot)
      this.#addVersionValues('project_types', version.project_types, doc, slot)
      for (const field of VERSION_FIELDS) this.#addVersionValues(field, version.fields[field] ?? [], doc, slot)
    }
    for (const [field, value] of Object.entries(document.components ?? {})) {
      if (typeof value === 'string') this.#addValues(field, [value], doc)
      else this.#setNumber(field, doc, value)
    }
  }

  /** The codes of those values that occur at all. */
  codes(field: string, values: readonly string[]): number[] {
    return values.map((value) => this.#keys.find(`${field}=${value}`)).filter((code) => code >= 0)
  }

  /** The code of "has a value"; -1 when none has. */
  anyCode(field: string): number {
    return this.#keys.find(field + ANY)
  }

  numbers(field: string): Float64Array<ArrayBuffer> {
    return this.#numbers.get(field) ?? new Float64Array(0)
  }

  /** A copy without the slots that are dropped, which shares the keys. */
  *remapped(slots: NewSlots): Generator<void, FacetIndex> {
    const copy = new FacetIndex()
    copy.#keys = this.#keys
    copy.#knownCodes = this.#knownCodes
    copy.versions = yield* this.versions.remapped(slots.versions)
    copy.docs = yield* this.docs.remapped(slots.docs)
    for (const [field, column] of this.#numbers) {
      for (const { start, end } of stretches(Math.min(column.length, slots.docs.length))) {
        for (let doc = start; doc < end; doc += 1) {
          const to = slots.docs[doc] ?? DROPPED
          const value = column[doc] ?? Number.NaN
          if (to !== DROPPED && !Number.isNaN(value)) copy.#setNumber(field, to, value)
        }
        yield
      }
    }
    return copy
  }

  save(): SavedFacets {
    return {
      keys: this.#keys.save(),
      versions: this.versions.save(),
      docs: this.docs.save(),
      numbers: Object.fromEntries(this.#numbers),
    }
  }

  #addValues(field: string, values: readonly string[], doc: number): void {
    if (values.length === 0) return
    const codes = this.#codesOf(field)
    this.docs.add(codes.get(ANY) ?? 0, doc)
    const isOften = OFTEN_THE_SAME.has(field)
    for (const value of values) {
      this.docs.add(isOften ? this.#codeOf(field, value, codes) : this.#keys.intern(`${field}=${value}`), doc)
    }
  }

  #addVersionValues(field: string, values: readonly string[], doc: number, version: number): void {
    if (values.length === 0) return
    const codes = this.#codesOf(field)
    this.#addCode(codes.get(ANY) ?? 0, doc, version)
    for (const value of values) this.#addCode(this.#codeOf(field, value, codes), doc, version)
  }

  #codesOf(field: string): Map<string, number> {
    let codes = this.#knownCodes.get(field)
    if (codes === undefined) {
      codes = new Map([[ANY, this.#keys.intern(field + ANY)]])
      this.#knownCodes.set(field, codes)
    }
    return codes
  }

  #codeOf(field: string, value: string, codes: Map<string, number>): number {
    const known = value === ANY ? undefined : codes.get(value)
    if (known !== undefined) return known
    const code = this.#keys.intern(`${field}=${value}`)
    if (codes.size < MAX_REMEMBERED && value !== ANY) codes.set(value, code)
    return code
  }

  #addCode(code: number, doc: number, version: number): void {
    this.docs.add(code, doc)
    this.versions.add(code, version)
  }

  #setNumber(field: string, doc: number, value: number): void {
    const old = this.#numbers.get(field)
    if (old === undefined && this.#numbers.size >= MAX_NUMBER_COLUMNS) return
    const column = withLength(old ?? new Float64Array(0), doc + 1)
    if (column !== old) this.#numbers.set(field, column.fill(Number.NaN, old?.length ?? 0))
    column[doc] = value
  }
}

/** The filter fields that are loader fields of a version. */
const VERSION_FIELDS = ['game_versions', 'environment', 'client_side', 'server_side'] as const

/** Project fields with few values. */
const OFTEN_THE_SAME: ReadonlySet<string> = new Set([
  'license',
  'open_source',
  'all_project_types',
  'project_categories',
  'disclosure_types',
])

function projectValues(document: SearchDocument): [string, readonly string[]][] {
  return [
    ['project_id', [document.id]],
    ['name', [document.name]],
    ['author', [authorKey(document.author)]],
    ['license', [document.license]],
    ['open_source', [String(document.open_source)]],
    ['all_project_types', union(document.versions.map((version) => version.project_types))],
    ['project_categories', document.categories],
    ['disclosure_types', document.disclosure_types],
    ...Object.entries(dependencyIds(document)),
  ]
}
