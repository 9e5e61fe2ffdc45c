// The OpenSearch document of a project, with its folded text, its nested versions and the JSON of its hit.
import { ApiError } from '#lib/errors.ts'
import {
  datedInListOrder,
  lastPublished,
  MAX_DOCUMENT_BYTES,
  projectValues,
  type SearchDocument,
  type SearchVersion,
  union,
} from '../document.ts'
import { documentWords, shortPrefixes } from '../fold.ts'
import { HIT_TEMPLATE, HIT_VALUES, hitValues } from '../hit.ts'
import { MIN_LENGTH_FOR_TYPO } from '../typo-rules.ts'

const keyword = { type: 'keyword', doc_values: false, norms: false }
const number = { type: 'double' }
const sortNumber = { type: 'long', index: false }
const storedText = { type: 'text', index: false, norms: false, store: true }

/**
 * Settings and mapping of an index. `facets` has `name=value` for each value of a text field that a filter can use, and
 * `name` if there is a value; `numbers` has the numbers by name. After a change, increase FORM in search-document.ts.
 */
export const INDEX_BODY = {
  settings: {
    number_of_shards: 1,
    // `apply` requests a refresh after each write.
    refresh_interval: '-1',
    // Pages can begin at any offset.
    max_result_window: 2_147_483_647,
  },
  mappings: {
    dynamic: false,
    // Only the stored hit is read back.
    _source: { enabled: false },
    dynamic_templates: [{ numbers: { path_match: 'numbers.*', mapping: number } }],
    properties: {
      // Missing in the tombstone of a deleted project.
      is_live: { type: 'boolean' },
      sequence: { type: 'long' },
      project_id: { type: 'keyword', index: false },
      hit: storedText,
      usual_version: storedText,
      slug: keyword,
      name: keyword,
      joined_name: keyword,
      aliases: keyword,
      terms: keyword,
      short_prefixes: keyword,
      long_prefixes: keyword,
      downloads: sortNumber,
      follows: sortNumber,
      created: sortNumber,
      modified: sortNumber,
      freshness: sortNumber,
      facets: keyword,
      numbers: { type: 'object', dynamic: true },
      versions: {
        type: 'nested',
        dynamic: false,
        properties: {
          version_id: { type: 'keyword', index: false },
          place: sortNumber,
          facets: keyword,
          numbers: { properties: { version_published_timestamp: number } },
        },
      },
    },
  },
}

/** @throws ApiError `invalid_input` if the document is too large, `search_error` if a date or a count is invalid. */
export function toIndexed(document: SearchDocument, sequence: number): object {
  const dated = datedInListOrder(document.versions)
  const versions = dated.map(({ version }) => version)
  const created = Date.parse(document.date_created)
  const modified = Date.parse(document.date_modified)
  const { downloads, follows } = document
  if (![downloads, follows, created, modified, ...dated.map(({ at }) => at)].every(Number.isFinite))
    throw new ApiError('search_error', `Project ${document.id} has an invalid date or count`)
  const { hit, usualVersion } = hitParts(document, versions)
  // A project without versions has one nested version without values, so that filters can match it.
  const nested = dated.length === 0 ? [undefined] : dated
  return {
    is_live: true,
    sequence,
    project_id: document.id,
    hit,
    usual_version: usualVersion,
    ...textFields(document),
    downloads,
    follows,
    created,
    modified,
    freshness: lastPublished(dated) ?? created,
    facets: projectFacets(document),
    numbers: {
      downloads,
      follows,
      created_timestamp: Math.floor(created / 1000),
      modified_timestamp: Math.floor(modified / 1000),
      ...componentNumbers(document),
    },
    versions: nested.map((entry, place) => ({
      version_id: entry?.version.id ?? undefined,
      place,
      facets: versionFacets(document, entry?.version),
      ...(entry === undefined ? {} : { numbers: { version_published_timestamp: Math.floor(entry.at / 1000) } }),
    })),
  }
}

/** Returns the hit without its first keys, which name the version. */
function hitParts(document: SearchDocument, versions: readonly SearchVersion[]): { hit: string; usualVersion: string } {
  const values = hitValues(document, versions)
  const byName = new Map(HIT_VALUES.map((name, i) => [name, values[i] ?? 'null']))
  let hit = ''
  for (const [before, name] of HIT_TEMPLATE) {
    if (name === 'version') continue
    const value = byName.get(name) ?? 'null'
    // At the start of an object, the list of fields has no leading comma.
    hit += before + (before.endsWith('{') ? value.slice(1) : value)
  }
  if (Buffer.byteLength(hit) > MAX_DOCUMENT_BYTES)
    throw new ApiError('invalid_input', `A project needs more than ${MAX_DOCUMENT_BYTES} bytes in the index`)
  return { hit: `${hit}}`, usualVersion: byName.get('version') ?? 'null' }
}

function textFields(document: SearchDocument): Record<string, string | readonly string[]> {
  const { name, slug, aliases, terms } = documentWords(document)
  const list = [...terms]
  return {
    slug: slug.length === 0 ? [] : slug.join(' '),
    name: name.join(' '),
    joined_name: name.join(''),
    aliases,
    terms: list,
    short_prefixes: [...new Set(list.flatMap(shortPrefixes))],
    long_prefixes: [...new Set(list.flatMap(prefixKeys))],
  }
}

function projectFacets(document: SearchDocument): string[] {
  const components = Object.entries(document.components ?? {})
  return facets({
    ...projectValues(document),
    ...Object.fromEntries(
      components.flatMap(([field, value]) => (typeof value === 'string' ? [[field, [value]]] : [])),
    ),
  })
}

function versionFacets(document: SearchDocument, version: SearchVersion | undefined): string[] {
  return facets({
    ...version?.fields,
    categories: union([document.categories, version?.categories ?? []]),
    loaders: version?.loaders ?? [],
    project_types: version?.project_types ?? [],
  })
}

function facets(lists: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(lists).flatMap(([field, values]) =>
    values.length === 0 ? [] : [field, ...values.map((value) => facet(field, value))],
  )
}

function componentNumbers({ components }: SearchDocument): Record<string, number> {
  return Object.fromEntries(
    Object.entries(components ?? {}).flatMap(([field, value]) =>
      typeof value === 'number' ? [[numberName(field), value]] : [],
    ),
  )
}

/** Longer values are cut, because the maximum size of a Lucene term is 32,766 bytes. */
const MAX_FACET_LENGTH = 8000

/** Returns the term of a value. Names of fields do not contain `=`. */
export function facet(field: string, value: string): string {
  return `${field}=${value}`.slice(0, MAX_FACET_LENGTH).toWellFormed()
}

/** Returns the name of a number in `numbers`, without dots, which would mean objects. */
export function numberName(field: string): string {
  return field.replaceAll('.', '-')
}

/**
 * Returns the keys of the prefixes of a term, for typos. A prefix matches if it is at least as long as the word and ends
 * with its last letter. A key therefore begins with this letter and the length, which a fuzzy query matches exactly.
 */
function prefixKeys(term: string): string[] {
  const letters = [...term]
  return letters
    .slice(0, -1)
    .map((last, i) => prefixKey(letters.slice(0, i + 1).join(''), last, i + 1))
    .slice(MIN_LENGTH_FOR_TYPO - 1)
}

/** Returns the key of a prefix, or of a word of that length. Its first two characters are never fuzzy. */
export function prefixKey(letters: string, last: string, length: number): string {
  // U+0100 stands for length 0. Words have at most 64 letters.
  return last + String.fromCodePoint(0x100 + length) + letters
}
