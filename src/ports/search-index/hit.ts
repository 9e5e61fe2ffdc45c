// The JSON of a search hit, identical in every engine, and the hits in a response body.
import { DEPENDENCY_TYPES, dependencyIds, type SearchDocument, type SearchVersion, union } from './document.ts'

const SIDES = ['client_side', 'server_side']

/**
 * Keys of a hit, each with the name of its value. `fields` is the list `,"game_versions":[…],…`, which
 * `project_loader_fields` contains again as an object.
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
/** Names of the values, each once, in the order of `hitValues`. */
export const HIT_VALUES = [...new Set(HIT_TEMPLATE.map(([, value]) => value))]

function plain(key: string): [string, string] {
  return [`,"${key}":`, key]
}

/** Returns the JSON of each value in the order of `HIT_VALUES`; `versions` in the order of the project's list. */
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
    // A fast path for the most common values.
    if (value === null) return 'null'
    if (typeof value === 'number') return String(value)
    return Array.isArray(value) && value.length === 0 ? '[]' : JSON.stringify(value)
  })
}

/** Formats each list as `,"name":[…]`. */
function tail(lists: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(lists)
    .map(([name, list]) => `,${JSON.stringify(name)}:${JSON.stringify(list)}`)
    .join('')
}

/** Returns the version that a hit names if the filter does not depend on versions; `versions` in the order of the project's list. */
function usualVersion(versions: readonly SearchVersion[]): SearchVersion | undefined {
  return versions.find((version) => version.status === 'listed') ?? versions[0]
}

const HITS = '{"hits":['
const HIT = '{"version_id":'
const END = '],"page":'
/** Length of the start of a hit that contains the IDs of its version and its project. */
const HEAD_LENGTH = 80

/** `head` contains the IDs of the hit, so that the heads of different projects and versions differ. */
export type HitPart = { head: string; bytes: Buffer }

/** Returns the hits of a response body, in order, as views of the body. Does not parse it: only a hit begins with `HIT`. */
export function hitsOf(body: Uint8Array): HitPart[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // One character per byte. A search in the buffer would convert the pattern again for each hit.
  const text = bytes.toString('latin1')
  const end = text.lastIndexOf(END)
  const hits: HitPart[] = []
  let start = HITS.length
  while (start < end) {
    const next = text.indexOf(HIT, start + HIT.length)
    // A comma separates two hits.
    const hitEnd = next < 0 ? end : next - 1
    const head = text.slice(start, Math.min(start + HEAD_LENGTH, hitEnd))
    hits.push({ head, bytes: bytes.subarray(start, hitEnd) })
    start = hitEnd + 1
  }
  return hits
}
