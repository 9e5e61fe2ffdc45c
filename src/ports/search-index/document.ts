// The document of a project in the index: everything that a hit shows or a filter uses, so that searches do not read the
// database. Lists are in the order in which a hit shows them.
import { compare } from '#lib/compare.ts'
import { authorKey } from './filter/fields.ts'

export type SearchDependency = {
  readonly project_id: string
  readonly dependency_type: string
  readonly name: string
  readonly slug: string | null
  readonly icon_url: string | null
}

export type SearchVersion = {
  /** Null: every version of the project is withdrawn, so that hits name none. */
  readonly id: string | null
  /** RFC 3339. */
  readonly date_published: string
  /** Position that the publisher chose; null if they chose none. */
  readonly ordering: number | null
  readonly status: 'listed' | 'archived'
  readonly project_types: readonly string[]
  readonly loaders: readonly string[]
  /** Categories in addition to those of the project: the loaders of the version, or those inside a content pack. */
  readonly categories: readonly string[]
  /** Loader fields by name, each a list (`game_versions`, `environment`, …); `client_side` and `server_side` too. */
  readonly fields: Readonly<Record<string, readonly string[]>>
}

export type SearchDocument = {
  readonly id: string
  readonly slug: string | null
  readonly name: string
  /** Other names, which only the search uses. */
  readonly other_names: readonly string[]
  readonly summary: string
  readonly author: string
  readonly author_id: string
  /** Name of the owning organization. */
  readonly organization: string | null
  readonly organization_id: string | null
  /** First identifier of the licence expression. */
  readonly license: string
  readonly open_source: boolean
  readonly downloads: number
  readonly follows: number
  readonly icon_url: string | null
  readonly color: number | null
  readonly gallery: readonly string[]
  readonly featured_gallery: string | null
  /** RFC 3339; date of the approval, otherwise of the publication. */
  readonly date_created: string
  /** RFC 3339. */
  readonly date_modified: string
  /** All categories of the project, which apply to each of its versions. */
  readonly categories: readonly string[]
  /** Categories to display. */
  readonly display_categories: readonly string[]
  readonly disclosure_types: readonly string[]
  readonly dependencies: readonly SearchDependency[]
  /** Live data of game servers by filter name (`…_java_server.ping.data.players_online`). */
  readonly components?: Readonly<Record<string, string | number>>
  /** Loader fields of all versions, each list in the order of the taxonomy. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Listed and archived versions that are not withdrawn, in any order; if all are withdrawn, all. */
  readonly versions: readonly SearchVersion[]
}

/** Maximum size of a serialised document. Every adapter rejects larger ones. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024

/** Dependency types with a filter field and a key of the hit, in the order of the keys. */
export const DEPENDENCY_TYPES = ['compatible', 'required', 'optional', 'embedded', 'incompatible'] as const

export type DatedVersion = { version: SearchVersion; at: number }

/**
 * Sorts versions as the lists of a project: first those with an `ordering`, ascending, then the others, newest first, then by
 * ID. Returns them with their dates in milliseconds; NaN for an invalid date.
 */
export function datedInListOrder(versions: readonly SearchVersion[]): DatedVersion[] {
  const place = ({ ordering }: SearchVersion): number => ordering ?? Number.MAX_SAFE_INTEGER
  return versions
    .map((version) => ({ version, at: Date.parse(version.date_published) }))
    .sort(
      (a, b) => place(a.version) - place(b.version) || b.at - a.at || compare(a.version.id ?? '', b.version.id ?? ''),
    )
}

/** Returns the date of the version that was published last, or undefined without versions. */
export function lastPublished(dated: readonly Pick<DatedVersion, 'at'>[]): number | undefined {
  return dated.length === 0 ? undefined : dated.reduce((last, { at }) => Math.max(last, at), -Infinity)
}

/** Returns the IDs of dependencies: all under `dependency_project_ids`, and those of each type under its field. */
export function dependencyIds({ dependencies }: SearchDocument): Readonly<Record<string, readonly string[]>> {
  const ids: Record<string, Set<string>> = { dependency_project_ids: new Set() }
  for (const type of DEPENDENCY_TYPES) ids[`${type}_dependency_project_ids`] = new Set()
  for (const { project_id, dependency_type } of dependencies) {
    ids['dependency_project_ids']?.add(project_id)
    ids[`${dependency_type}_dependency_project_ids`]?.add(project_id)
  }
  return Object.fromEntries(Object.entries(ids).map(([field, set]) => [field, [...set]]))
}

/** Returns the values of the text and boolean fields of the project. */
export function projectValues(document: SearchDocument): Record<string, readonly string[]> {
  return {
    project_id: [document.id],
    name: [document.name],
    author: [authorKey(document.author)],
    license: [document.license],
    open_source: [String(document.open_source)],
    all_project_types: union(document.versions.map((version) => version.project_types)),
    project_categories: document.categories,
    disclosure_types: document.disclosure_types,
    ...dependencyIds(document),
  }
}

/** Returns every value once, in the order of its first occurrence. */
export function union(lists: Iterable<readonly string[]>): string[] {
  const values = new Set<string>()
  for (const list of lists) for (const value of list) values.add(value)
  return [...values]
}
