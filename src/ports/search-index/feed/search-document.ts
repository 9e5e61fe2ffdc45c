// From a project's row to the document that is indexed.
import { hash } from 'node:crypto'
import { isOpenSource } from '#platform/taxonomy/licenses.ts'
import { sortFieldValues } from '#platform/taxonomy/loader-fields.ts'
import { fieldsOf, projectTypesOf, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { MAX_DOCUMENT_BYTES, type SearchDocument, type SearchVersion, union } from '#ports/search-index/document.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import type { DocumentRow, VersionRow } from './document-rows.ts'

/** To be raised with every change of what this file makes of a row: an index of another form is rebuilt. */
const FORM = 1
/** Documents with fewer versions are far below the limit; the others are measured. */
const SURELY_SMALL_VERSIONS = 200

/** What documents depend on besides the database. An index that was built on another basis is out of date. */
export function documentBasis({ loaders, fields }: Taxonomy): string {
  const ranks = [...fields.values()].map(({ name, type, enumValues }) => [
    name,
    type,
    [...(enumValues?.values() ?? [])],
  ])
  return `${FORM}:${hash('sha256', JSON.stringify([...loaders.values(), ranks]), 'base64url')}`
}

/** Of a document that would be too large, the oldest versions are left out. */
export function toSearchDocument(row: DocumentRow, taxonomy: Taxonomy): SearchDocument {
  const versions = row.versions ?? []
  for (let count = versions.length; ; count = Math.floor(count / 2)) {
    const document = makeDocument(row, versions.slice(0, count), taxonomy)
    if (count <= SURELY_SMALL_VERSIONS || Buffer.byteLength(JSON.stringify(document)) <= MAX_DOCUMENT_BYTES) {
      return document
    }
  }
}

function makeDocument(row: DocumentRow, versionRows: readonly VersionRow[], taxonomy: Taxonomy): SearchDocument {
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
  return {
    id,
    date_published: new Date(publishedMs).toISOString(),
    status,
    project_types,
    loaders: loaders.toSorted(),
    categories: loaders.flatMap((loader) => insideLoaders(fields, loader) ?? [loader]).sort(),
    fields: { ...fields, ...sides(project_types, fields) },
  }
}

/** A content pack names the loaders inside it in a field called after its own: they stand for it among categories. */
function insideLoaders(
  fields: Readonly<Record<string, readonly string[]>>,
  loader: string,
): readonly string[] | undefined {
  const inside = fields[`${loader}_loaders`]
  return inside === undefined || inside.length === 0 ? undefined : inside
}

function sides(projectTypes: readonly string[], fields: Readonly<Record<string, readonly string[]>>) {
  const { client_side, server_side } = sidesOf(projectTypes, fields['environment']?.[0])
  return { client_side: [client_side], server_side: [server_side] }
}

/** What the project's own view shows of its versions, as texts: each list in the order of the taxonomy. */
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
