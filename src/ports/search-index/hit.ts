// What a search hit shows, as JSON: the same bytes whichever engine finds it.
import { DEPENDENCY_TYPES, dependencyIds, type SearchDocument, type SearchVersion, union } from './document.ts'

const SIDES = ['client_side', 'server_side']

/**
 * What a hit consists of, in its order: `"key":` with the value of the same or another name. `fields` is the flattened
 * tail `,"game_versions":[…],…`, which `project_loader_fields` shows again as an object.
 */
export const HIT_TEMPLATE: readonly (readonly [before: string, value: string])[] = [
  ['{"version_id":', 'version'],
  [',"latest_version":', 'version'],
  [',"project_id":', 'project_id'],
  [',"project_types":', 'project_types'],
  [',"all_project_types":', 'project_types'],
  ...['slug', 'author', 'author_id', 'organization', 'organization_id', 'name', 'summary', 'categories'].map(plain),
  ...['display_categories', 'downloads', 'follows', 'icon_url', 'date_created', 'date_modified', 'license'].map(plain),
  ...['gallery', 'featured_gallery', 'color', 'dependency_project_ids'].map(plain),
  ...DEPENDENCY_TYPES.map((type) => plain(`${type}_dependency_project_ids`)),
  ...['dependencies', 'disclosure_types', 'loaders'].map(plain),
  [',"project_loader_fields":{', 'fields'],
  ['}', 'fields'],
  ['', 'sides'],
]
/** The names of the values, each once, as `hitValues` lists them. */
export const HIT_VALUES = [...new Set(HIT_TEMPLATE.map(([, value]) => value))]

function plain(key: string): [string, string] {
  return [`,"${key}":`, key]
}

/** The JSON of each value of the template, each once, in its order; `versions` newest first. */
export function hitValues(document: SearchDocument, versions: readonly SearchVersion[]): string[] {
  const sides = Object.fromEntries(SIDES.map((side) => [side, union(versions.map((v) => v.fields[side] ?? [])).sort()]))
  const lists: Record<string, readonly unknown[]> = {
    project_types: union(versions.map((version) => version.project_types)).sort(),
    loaders: union(versions.map((version) => version.loaders)).sort(),
    categories: union([document.categories, ...versions.map((version) => version.categories)]).sort(),
    ...dependencyIds(document),
  }
  const single: Record<string, unknown> = { project_id: document.id, version: usualVersion(versions)?.id ?? null }
  const own: Record<string, unknown> = document
  return HIT_VALUES.map((name) => {
    if (name === 'fields') return tail(document.fields)
    if (name === 'sides') return tail(sides)
    const value = single[name] ?? lists[name] ?? own[name] ?? null
    // Most values are these, and they need no call into the serialiser.
    if (value === null) return 'null'
    if (typeof value === 'number') return String(value)
    return Array.isArray(value) && value.length === 0 ? '[]' : JSON.stringify(value)
  })
}

/** Each list as `,"name":[…]`. */
function tail(lists: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(lists)
    .map(([name, list]) => `,${JSON.stringify(name)}:${JSON.stringify(list)}`)
    .join('')
}

/** The version that a hit names when the query asks nothing of versions; `versions` newest first. */
export function usualVersion(versions: readonly SearchVersion[]): SearchVersion | undefined {
  return versions.find((version) => version.status === 'listed') ?? versions[0]
}
