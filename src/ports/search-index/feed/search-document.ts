// Converts the row of a project to the document in the index.
import { hash } from 'node:crypto'
import { isOpenSource } from '#platform/taxonomy/licenses.ts'
import { fieldsOf, projectTypesOf, sortFieldValues, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { MAX_DOCUMENT_BYTES, type SearchDocument, type SearchVersion, union } from '#ports/search-index/document.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import type { DocumentRow, VersionRow } from './document-rows.ts'

/** Increase it with every change of the documents or of the mapping of OpenSearch; the index is then rebuilt. */
const FORM = 2
/** Documents with at most this many versions are far below the size limit; larger ones are measured. */
const SMALL_VERSIONS = 200

/** Identifies everything but the database that documents depend on. An index with another basis is outdated. */
export function documentBasis({ loaders, fields }: Taxonomy): string {
  const ranks = [...fields.values()].map(({ name, type, enumValues }) => [
    name,
    type,
    [...(enumValues?.values() ?? [])],
  ])
  return `${FORM}:${hash('sha256', JSON.stringify([...loaders.values(), ranks]), 'base64url')}`
}

/** Converts a row; omits the oldest versions of a document that would be too large. */
export function toSearchDocument(row: DocumentRow, taxonomy: Taxonomy): SearchDocument {
  const versions = row.versions ?? []
  for (let count = versions.length; ; count = Math.floor(count / 2)) {
    const document = createDocument(row, versions.slice(0, count), taxonomy)
    if (count <= SMALL_VERSIONS || Buffer.byteLength(JSON.stringify(document)) <= MAX_DOCUMENT_BYTES) {
      return document
    }
  }
}

function createDocument(row: DocumentRow, versionRows: readonly VersionRow[], taxonomy: Taxonomy): SearchDocument {
  const versions = versionRows.map((version) => toSearchVersion(version, taxonomy))
  const gallery = row.gallery ?? []
  const primary = row.categories.toSorted()
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
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

function toSearchVersion([id, status, publishedMs, loaders, values]: VersionRow, taxonomy: Taxonomy): SearchVersion {
  const project_types = projectTypesOf(taxonomy, loaders)
  const fields: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(values))
    fields[name] = Array.isArray(value) ? value.map(String) : [`${value}`]
  const { client_side, server_side } = sidesOf(project_types, fields['environment']?.[0])
  // The loaders inside a content pack replace the pack.
  const categoriesOf = (loader: string) => {
    const inside = fields[`${loader}_loaders`] ?? []
    return inside.length === 0 ? [loader] : inside
  }
  return {
    id,
    date_published: new Date(publishedMs).toISOString(),
    status,
    project_types,
    loaders: loaders.toSorted(),
    categories: loaders.flatMap(categoriesOf).sort(),
    fields: { ...fields, client_side: [client_side], server_side: [server_side] },
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
