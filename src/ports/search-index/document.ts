// What is indexed of a project: all that its search hit shows and all that a filter may ask, so that neither needs the
// database. Lists are in the order in which a hit shows them.
import { compare } from '#lib/compare.ts'

export type SearchDependency = {
  readonly project_id: string
  readonly dependency_type: string
  readonly name: string
  readonly slug: string | null
  readonly icon_url: string | null
}

export type SearchVersion = {
  readonly id: string
  /** RFC 3339. */
  readonly date_published: string
  readonly status: 'listed' | 'archived'
  readonly project_types: readonly string[]
  readonly loaders: readonly string[]
  /**
   * What this version adds to `categories` beyond the project's own: its loaders and, for a content pack, the loaders
   * inside it (facts of the taxonomy, so the feeder's).
   */
  readonly categories: readonly string[]
  /** Loader fields by name, each a list (`game_versions`, `environment`, …); `client_side` and `server_side` too. */
  readonly fields: Readonly<Record<string, readonly string[]>>
}

export type SearchDocument = {
  readonly id: string
  readonly slug: string | null
  readonly name: string
  readonly summary: string
  readonly author: string
  readonly author_id: string
  /** The owning organization's name. */
  readonly organization: string | null
  readonly organization_id: string | null
  /** The first identifier of the licence expression. */
  readonly license: string
  readonly open_source: boolean
  readonly downloads: number
  readonly follows: number
  readonly icon_url: string | null
  readonly color: number | null
  readonly gallery: readonly string[]
  readonly featured_gallery: string | null
  /** RFC 3339; approval, else publication. */
  readonly date_created: string
  /** RFC 3339. */
  readonly date_modified: string
  /** All of the project's categories; they count for each of its versions. */
  readonly categories: readonly string[]
  /** The ones meant for display. */
  readonly display_categories: readonly string[]
  readonly disclosure_types: readonly string[]
  readonly dependencies: readonly SearchDependency[]
  /** Live facts under their full filter name (`…_java_server.ping.data.players_online`), where there are any. */
  readonly components?: Readonly<Record<string, string | number>>
  /** The loader fields of all versions as the hit shows them, each list in the order of its taxonomy. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** The listed and archived ones, in any order. */
  readonly versions: readonly SearchVersion[]
}

/** A document serialised takes at most this many bytes; a larger one is refused by every adapter. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024

/** The dependency types that have a filter field and a key of the hit each, in the order of the keys. */
export const DEPENDENCY_TYPES = ['compatible', 'required', 'optional', 'embedded', 'incompatible'] as const

/** Newest first, ties by ID: the order in which "the newest version that …" is looked for. */
export function newestFirst(versions: readonly SearchVersion[]): SearchVersion[] {
  return datedNewestFirst(versions).map(({ version }) => version)
}

/** As `newestFirst`, with the dates in milliseconds; NaN for what is not a date. */
export function datedNewestFirst(versions: readonly SearchVersion[]): { version: SearchVersion; at: number }[] {
  return versions
    .map((version) => ({ version, at: Date.parse(version.date_published) }))
    .sort((a, b) => b.at - a.at || compare(a.version.id, b.version.id))
}

/** The projects depended on, each once: under `dependency_project_ids` all, under the other fields those of a type. */
export function dependencyIds({ dependencies }: SearchDocument): Readonly<Record<string, readonly string[]>> {
  if (dependencies.length === 0) return NO_DEPENDENCIES
  const ids: Record<string, string[]> = { dependency_project_ids: [] }
  for (const type of DEPENDENCY_TYPES) ids[`${type}_dependency_project_ids`] = []
  for (const { project_id, dependency_type } of dependencies) {
    ids['dependency_project_ids']?.push(project_id)
    ids[`${dependency_type}_dependency_project_ids`]?.push(project_id)
  }
  for (const [field, list] of Object.entries(ids)) if (list.length > 1) ids[field] = [...new Set(list)]
  return ids
}

const NO_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ['', ...DEPENDENCY_TYPES.map((type) => `${type}_`)].map((prefix) => [`${prefix}dependency_project_ids`, []]),
)

/** Every value once, in first-seen order. */
export function union(lists: Iterable<readonly string[]>): string[] {
  const values = new Set<string>()
  for (const list of lists) for (const value of list) values.add(value)
  return [...values]
}
