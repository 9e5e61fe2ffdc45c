// The rules of search written down as plainly as possible, one project after another: what tests compare engines with.
import {
  datedInListOrder,
  dependencyIds,
  lastPublished,
  type SearchDocument,
  type SearchVersion,
  union,
} from '#ports/search-index/document.ts'
import { authorKey } from '#ports/search-index/filter/fields.ts'
import type { Filter, Predicate } from '#ports/search-index/filter/tree.ts'
import { foldWords, indexTerms, innerWords, joinedTerms, queryTerms } from '#ports/search-index/fold.ts'
import type { SearchQuery, Sort } from '#ports/search-index/search-index.ts'
import { firstLetterCost, MAX_TYPOS, typosAllowed } from '#ports/search-index/typo-rules.ts'

export type NaiveAnswer = {
  readonly hits: { readonly project_id: string; readonly version_id: string | null }[]
  readonly total: number
}

/** The page of hits that the query asks for, by ID, and the number of all. */
export function naiveSearch(documents: readonly SearchDocument[], query: SearchQuery): NaiveAnswer {
  const ranks = rankText(documents, query.text)
  const found = documents.flatMap((document) => {
    const rank = ranks.get(document) ?? Number.POSITIVE_INFINITY
    const version = matchingVersion(document, query.filter)
    return rank < Number.POSITIVE_INFINITY && version !== undefined ? [{ document, rank, version }] : []
  })
  const key = (document: SearchDocument) => sortKey(document, query.sort)
  found.sort(
    (a, b) =>
      (query.sort === 'relevance' ? a.rank - b.rank : 0) ||
      key(b.document) - key(a.document) ||
      freshness(b.document) - freshness(a.document) ||
      (a.document.id < b.document.id ? -1 : 1),
  )
  const page = found.slice(query.offset, query.offset + query.limit)
  const asksVersions = mentionsVersions(query.filter)
  return {
    hits: page.map(({ document, version }) => ({
      project_id: document.id,
      version_id: (asksVersions ? version : usualVersion(document))?.id ?? null,
    })),
    total: found.length,
  }
}

function sortKey(document: SearchDocument, sort: Sort): number {
  if (sort === 'follows') return document.follows
  if (sort === 'newest') return Date.parse(document.date_created)
  if (sort === 'updated') return Date.parse(document.date_modified)
  return document.downloads
}

function freshness(document: SearchDocument): number {
  return lastPublished(datedInListOrder(document.versions)) ?? Date.parse(document.date_created)
}

function usualVersion(document: SearchDocument): SearchVersion | undefined {
  const versions = inListOrder(document.versions)
  return versions.find((version) => version.status === 'listed') ?? versions[0]
}

function inListOrder(versions: readonly SearchVersion[]): SearchVersion[] {
  return datedInListOrder(versions).map(({ version }) => version)
}

/** The first version on which the filter holds; null is the place of a project without versions. */
function matchingVersion(document: SearchDocument, filter: Filter): SearchVersion | null | undefined {
  const places = document.versions.length === 0 ? [null] : inListOrder(document.versions)
  return places.find((version) => holds(filter, document, version))
}

function holds(filter: Filter, document: SearchDocument, version: SearchVersion | null): boolean {
  if (filter.kind === 'and') return filter.children.every((child) => holds(child, document, version))
  if (filter.kind === 'or') return filter.children.some((child) => holds(child, document, version))
  return test(filter, valuesOf(filter.field.name, document, version)) !== filter.negated
}

function test(predicate: Predicate, values: readonly (string | number)[]): boolean {
  if (predicate.kind === 'exists') return values.length > 0
  if (predicate.kind === 'equals') return values.some((value) => predicate.values.includes(value))
  const { operator, value: limit } = predicate
  return values.map(Number).some((value) => {
    if (operator === '<') return value < limit
    if (operator === '<=') return value <= limit
    return operator === '>' ? value > limit : value >= limit
  })
}

function valuesOf(
  field: string,
  document: SearchDocument,
  version: SearchVersion | null,
): readonly (string | number)[] {
  const seconds = (date: string) => Math.floor(Date.parse(date) / 1000)
  const values: Record<string, readonly (string | number)[]> = {
    ...dependencyIds(document),
    categories: union([document.categories, version?.categories ?? []]),
    loaders: version?.loaders ?? [],
    project_types: version?.project_types ?? [],
    version_published_timestamp: version === null ? [] : [seconds(version.date_published)],
    project_id: [document.id],
    name: [document.name],
    author: [authorKey(document.author)],
    license: [document.license],
    open_source: [String(document.open_source)],
    all_project_types: union(document.versions.map((each) => each.project_types)),
    project_categories: document.categories,
    disclosure_types: document.disclosure_types,
    downloads: [document.downloads],
    follows: [document.follows],
    created_timestamp: [seconds(document.date_created)],
    modified_timestamp: [seconds(document.date_modified)],
  }
  const component = document.components?.[field]
  return values[field] ?? version?.fields[field] ?? (component === undefined ? [] : [component])
}

function mentionsVersions(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.children.some(mentionsVersions)
  return filter.field.grain === 'version'
}

/** 0 exact slug, 1 exact name, 1.5 name that differs in its spaces, 2 name prefix, 3 all words by prefix; only when none: 4 one typo, 5 two typos, and half less if the whole name has at most two typos. */
function rankText(documents: readonly SearchDocument[], text: string): Map<SearchDocument, number> {
  const words = foldWords(text)
  if (words.length === 0) return new Map(documents.map((document) => [document, 0]))
  const exact = new Map<SearchDocument, number>()
  for (const document of documents) {
    const rank = exactRank(document, words)
    if (rank !== undefined) exact.set(document, rank)
  }
  const terms = queryTerms(words)
  if (exact.size > 0 || terms.length > 8) return exact
  const withTypos = new Map<SearchDocument, number>()
  for (const document of documents) {
    let typos = 0
    for (const term of terms) {
      if (typos <= 2) typos += Math.min(...termsOf(document).map((other) => typosBetween(term, other)), 9)
    }
    if (isJoined(document, words)) typos = Math.min(typos, 1)
    const isWhole = typosOfName(document, words) <= MAX_TYPOS
    if (typos <= 2) withTypos.set(document, 3 + typos - (isWhole ? 0.5 : 0))
  }
  return withTypos
}

/** Returns the number of typos between the words and the whole name, both without spaces. */
function typosOfName({ name }: SearchDocument, words: readonly string[]): number {
  return distance([...words.join('')], [...foldWords(name).join('')], 0)
}

/** Whether the words without their spaces are the slug or begin the name: one typo. */
function isJoined(document: SearchDocument, words: readonly string[]): boolean {
  const joined = words.join('')
  const isSlug = document.slug !== null && foldWords(document.slug).join(' ') === joined
  return words.length > 1 && (isSlug || foldWords(document.name).join('').startsWith(joined))
}

function exactRank(document: SearchDocument, words: readonly string[]): number | undefined {
  const name = foldWords(document.name)
  const glue = words.length > 1 ? ' ' : ''
  if (document.slug !== null && foldWords(document.slug).join(' ') === words.join(' ')) return 0
  if (name.join(glue) === words.join(glue)) return 1
  const hasAll = queryTerms(words).every((term) => termsOf(document).some((other) => other.startsWith(term)))
  // `WorldEdit` for `world edit`.
  if (name.join('') === words.join('')) return hasAll ? 1 : 1.5
  if (name.join(glue).startsWith(words.join(glue))) return 2
  return hasAll ? 3 : undefined
}

/** Documents are not changed, so what follows from one alone is worked out once. */
const termsOfDocument = new WeakMap<SearchDocument, readonly string[]>()

function termsOf(document: SearchDocument): readonly string[] {
  const known = termsOfDocument.get(document)
  if (known !== undefined) return known
  const terms = new Set<string>()
  for (const text of [document.name, document.slug ?? '', document.author, document.summary])
    indexTerms(foldWords(text), terms)
  indexTerms(innerWords(document.name), terms)
  for (const term of joinedTerms(foldWords(document.name))) terms.add(term)
  const list = [...terms]
  termsOfDocument.set(document, list)
  return list
}

/** Returns the minimum number of typos between a word and a term or its prefix; 9 if there are too many. */
function typosBetween(word: string, term: string): number {
  if (term.startsWith(word)) return 0
  const allowed = typosAllowed(word)
  if (allowed === 0 || term.length < word.length - allowed) return 9
  const letters = [...term]
  const extra = firstLetterCost(allowed) - 1
  let least = distance([...word], letters, extra)
  for (let length = [...word].length; length < letters.length; length += 1) {
    if (letters[length - 1] === [...word].at(-1))
      least = Math.min(least, distance([...word], letters.slice(0, length), extra))
  }
  return least <= allowed ? least : 9
}

/**
 * Counts inserted, dropped and replaced letters and swapped adjacent letters; each letter changes at most once. `extra`
 * is the cost for the first letter.
 */
function distance(a: readonly string[], b: readonly string[], extra: number): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => (j === 0 ? 0 : j + extra))]
  const at = (i: number, j: number) => rows[i]?.[j] ?? 99
  for (let i = 1; i <= a.length; i += 1) {
    rows[i] = [i + extra]
    for (let j = 1; j <= b.length; j += 1) {
      let least = Math.min(
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1 + (i + j === 2 ? extra : 0)),
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1 + (i + j === 4 ? extra : 0))
      rows[i]?.push(least)
    }
  }
  return at(a.length, b.length)
}
