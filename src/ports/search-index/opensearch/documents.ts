// What OpenSearch holds of a project: one document with its versions nested in it, the text already folded, and the
// hit as it is sent.
import { ApiError } from '#lib/errors.ts'
import {
  datedNewestFirst,
  dependencyIds,
  MAX_DOCUMENT_BYTES,
  type SearchDocument,
  type SearchVersion,
  union,
} from '../document.ts'
import { authorKey } from '../filter/fields.ts'
import { foldWords, indexTerms, innerWords } from '../fold.ts'
import { HIT_TEMPLATE, HIT_VALUES, hitValues } from '../hit.ts'
import { beginningKeys, shortBeginnings } from './terms.ts'

/** Counted up with every change of the mapping or of what a document holds: an index of another form is rebuilt. */
export const INDEX_FORM = 1

const keyword = { type: 'keyword', doc_values: false, norms: false }
const number = { type: 'double' }
const sortNumber = { type: 'long', index: false }
const storedText = { type: 'text', index: false, norms: false, store: true }

/**
 * The index of one build. `facets` has `name=value` for each value of a text that a filter may ask, and `name` where
 * there is one at all; `numbers` has the numbers by name, those of live components as they are met.
 */
export const INDEX_BODY = {
  settings: {
    number_of_shards: 1,
    // Every write that must be seen is followed by a refresh; nothing else asks for one.
    refresh_interval: '-1',
    // Pages begin at the exact offset wherever it is.
    max_result_window: 2_147_483_647,
  },
  mappings: {
    dynamic: false,
    // The hit is stored as it is sent; a document is never read back otherwise.
    _source: { enabled: false },
    dynamic_templates: [{ numbers: { path_match: 'numbers.*', mapping: number } }],
    properties: {
      // Absent on what is left of a deleted project.
      is_live: { type: 'boolean' },
      sequence: { type: 'long' },
      project_id: { type: 'keyword', index: false },
      hit: storedText,
      usual_version: storedText,
      slug: keyword,
      name: keyword,
      joined_name: keyword,
      terms: keyword,
      short_beginnings: keyword,
      long_beginnings: keyword,
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
          published: sortNumber,
          facets: keyword,
          numbers: { properties: { version_published_timestamp: number } },
        },
      },
    },
  },
}

/** What is left of a deleted project, so that an older change does not bring it back. */
export function tombstone(sequence: number): object {
  return { sequence }
}

/**
 * The document as OpenSearch gets it.
 * @throws ApiError `invalid_input` when it is too large, `search_error` when a date or a count is none.
 */
export function toIndexed(document: SearchDocument, sequence: number): object {
  const dated = datedNewestFirst(document.versions)
  const versions = dated.map(({ version }) => version)
  const created = Date.parse(document.date_created)
  const modified = Date.parse(document.date_modified)
  const { downloads, follows } = document
  if (![downloads, follows, created, modified, ...dated.map(({ at }) => at)].every(Number.isFinite))
    throw new ApiError('search_error', `Project ${document.id} has a date or a count that is not one`)
  const { hit, usualVersion } = hitParts(document, versions)
  // A project without versions has one place without values, on which filters are tried.
  const places = dated.length === 0 ? [undefined] : dated
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
    freshness: dated[0]?.at ?? created,
    facets: projectFacets(document),
    numbers: {
      downloads,
      follows,
      created_timestamp: Math.floor(created / 1000),
      modified_timestamp: Math.floor(modified / 1000),
      ...componentNumbers(document),
    },
    versions: places.map((place) => ({
      version_id: place?.version.id,
      published: place?.at ?? 0,
      facets: versionFacets(document, place?.version),
      ...(place === undefined ? {} : { numbers: { version_published_timestamp: Math.floor(place.at / 1000) } }),
    })),
  }
}

/** The hit without its version keys, which come first in it. */
function hitParts(document: SearchDocument, versions: readonly SearchVersion[]): { hit: string; usualVersion: string } {
  const values = hitValues(document, versions)
  const byName = new Map(HIT_VALUES.map((name, i) => [name, values[i] ?? 'null']))
  let hit = ''
  for (const [before, name] of HIT_TEMPLATE) {
    if (name === 'version') continue
    const value = byName.get(name) ?? 'null'
    // Inside the object the list of fields has no leading comma.
    hit += before + (before.endsWith('{') ? value.slice(1) : value)
  }
  if (Buffer.byteLength(hit) > MAX_DOCUMENT_BYTES)
    throw new ApiError('invalid_input', `A project takes over ${MAX_DOCUMENT_BYTES} bytes in the index`)
  return { hit: `${hit}}`, usualVersion: byName.get('version') ?? 'null' }
}

function textFields(document: SearchDocument): Record<string, string | readonly string[]> {
  const name = foldWords(document.name)
  const terms = new Set<string>()
  indexTerms(name, terms)
  indexTerms(innerWords(document.name), terms)
  const slug = document.slug === null ? [] : foldWords(document.slug)
  for (const words of [slug, foldWords(document.author), foldWords(document.summary)]) indexTerms(words, terms)
  const list = [...terms]
  return {
    slug: slug.length === 0 ? [] : slug.join(' '),
    name: name.join(' '),
    joined_name: name.join(''),
    terms: list,
    short_beginnings: [...new Set(list.flatMap(shortBeginnings))],
    long_beginnings: [...new Set(list.flatMap(beginningKeys))],
  }
}

function projectFacets(document: SearchDocument): string[] {
  const components = Object.entries(document.components ?? {})
  return facets({
    ...dependencyIds(document),
    project_id: [document.id],
    name: [document.name],
    author: [authorKey(document.author)],
    license: [document.license],
    open_source: [String(document.open_source)],
    all_project_types: union(document.versions.map((version) => version.project_types)),
    project_categories: document.categories,
    disclosure_types: document.disclosure_types,
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

/** The longest term that Lucene takes is 32,766 bytes; a longer value is known by its beginning. */
const MAX_FACET_LENGTH = 8000

/** The term that stands for a value of a field. No field's name holds `=`. */
export function facet(field: string, value: string): string {
  return `${field}=${value}`.slice(0, MAX_FACET_LENGTH).toWellFormed()
}

/** The name of a number among `numbers`, where dots would mean objects. */
export function numberName(field: string): string {
  return field.replaceAll('.', '-')
}
