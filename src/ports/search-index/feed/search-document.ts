// Converts the row of a project to the document in the index.
import { hash } from 'node:crypto'
import { MAX_DOCUMENT_BYTES, type SearchDocument, type SearchVersion, union } from '#ports/search-index/document.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import { isOpenSource } from '#taxonomy/licenses.ts'
import { fieldsOf, loadersWith, projectTypesOf, sortFieldValues, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { DocumentRow, VersionRow } from './document-rows.ts'

/** Increase it with every change of the documents or of the mapping of OpenSearch; the index is then rebuilt. */
const FORM = 7
/** Documents with at most this many versions are far below the size limit; larger ones are measured. */
const SMALL_VERSIONS = 200

/**
 * Identifies everything but the database that documents depend on. An index with another basis is outdated. The result is
 * kept until the taxonomy has other fields, which happens whenever an operator edits tags.
 */
export function documentBasis({ loaders, fields }: Pick<Taxonomy, 'loaders' | 'fields'>): string {
  const known = bases.get(fields)
  if (known?.loaders === loaders) return known.basis
  const basis = basisOf({ loaders, fields })
  bases.set(fields, { loaders, basis })
  return basis
}

const bases = new WeakMap<Taxonomy['fields'], { loaders: Taxonomy['loaders']; basis: string }>()

function basisOf({ loaders, fields }: Pick<Taxonomy, 'loaders' | 'fields'>): string {
  const ranks = [...fields.values()].map(({ name, type, enumValues }) => [
    name,
    type,
    [...(enumValues?.values() ?? [])],
  ])
  return `${FORM}:${hash('sha256', JSON.stringify([...loaders.values(), ranks]), 'base64url')}`
}

/** Converts a row; omits the last versions of a document that would be too large. */
export function toSearchDocument(row: DocumentRow, taxonomy: Taxonomy): SearchDocument {
  const versions = row.versions ?? []
  for (let count = versions.length; ; count = Math.floor(count / 2)) {
    const document = createDocument(row, versions.slice(0, count), taxonomy)
    if (count <= SMALL_VERSIONS || Buffer.byteLength(JSON.stringify(document)) <= MAX_DOCUMENT_BYTES) return document
  }
}

function createDocument(row: DocumentRow, versionRows: readonly VersionRow[], taxonomy: Taxonomy): SearchDocument {
  const sides = sidesOfProject(row.versions ?? [], taxonomy)
  const versions = versionRows.map((version) => toSearchVersion(version, { sides, taxonomy }))
  const gallery = row.gallery ?? []
  const primary = row.categories.toSorted()
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    other_names: row.other_names,
    summary: row.summary,
    author: row.author,
    author_id: row.author_id,
    organization: row.organization,
    organization_id: row.organization_id,
    license: firstLicense(row.license),
    open_source: isOpenSource(row.license),
    downloads: row.downloads,
    follows: row.followers,
    icon_url: row.icon_url,
    color: row.color,
    gallery: gallery.filter(({ featured }) => !featured).map(({ url }) => url),
    featured_gallery: gallery.find(({ featured }) => featured)?.url ?? null,
    date_created: row.created.toISOString(),
    date_modified: row.updated.toISOString(),
    categories: union([primary, row.additional_categories.toSorted()]),
    display_categories: primary,
    disclosure_types: [],
    dependencies: row.dependencies ?? [],
    fields: fieldUnions(versions, taxonomy),
    versions,
  }
}

/** Returns the sides of the project, which each of its versions has. */
function sidesOfProject(versions: readonly VersionRow[], taxonomy: Taxonomy): SearchVersion['fields'] {
  const types = projectTypesOf(taxonomy, union(versions.map(([, , , , loaders]) => loaders)))
  const withEnvironment = new Set(loadersWith(taxonomy, 'environment'))
  const first = versions.find(
    ([, , , , loaders, { environment }]) =>
      environment !== undefined && loaders.some((name) => withEnvironment.has(name)),
  )
  const { client_side, server_side } = sidesOf(types, first === undefined ? null : String(first[5]['environment']))
  return { client_side: [client_side], server_side: [server_side] }
}

function toSearchVersion(
  [id, status, publishedMs, ordering, loaders, values]: VersionRow,
  { sides, taxonomy }: { sides: SearchVersion['fields']; taxonomy: Taxonomy },
): SearchVersion {
  const fields: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(values))
    fields[name] = Array.isArray(value) ? value.map(String) : [`${value}`]
  // The loaders inside a content pack replace the pack.
  const categoriesOf = (loader: string) => {
    const inside = fields[`${loader}_loaders`] ?? []
    return inside.length === 0 ? [loader] : inside
  }
  return {
    id,
    date_published: new Date(publishedMs).toISOString(),
    ordering,
    status,
    project_types: projectTypesOf(taxonomy, loaders),
    loaders: loaders.toSorted(),
    categories: loaders.flatMap(categoriesOf).sort(),
    fields: { ...fields, ...sides },
  }
}

/** Returns the loader fields of all versions as strings, in the order of the taxonomy. */
function fieldUnions(versions: readonly SearchVersion[], taxonomy: Taxonomy): Record<string, readonly string[]> {
  const fields: Record<string, readonly string[]> = {}
  for (const name of fieldsOf(taxonomy, union(versions.map(({ loaders }) => loaders)))) {
    const values = union(versions.map((version) => version.fields[name] ?? []))
    const isList = taxonomy.fields.get(name)?.type.startsWith('array') === true
    if (values.length > 0 || isList) fields[name] = sortFieldValues(taxonomy, name, values)
  }
  return fields
}

function firstLicense(expression: string): string {
  return /[^\s()]+/.exec(expression)?.[0] ?? expression
}
