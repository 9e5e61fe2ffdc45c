// The values that the filters of a list offer: those of the taxonomy that its type has, the most used first.

import { countChoices, fieldIs, releasesOf } from '#features/reading/search/facet-counts.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { ProjectType } from '#web/kit/paths.ts'
import { type Facet, FIXED_VALUES, type ListRequest } from './list-request.ts'

type UseDeps = Pick<Deps, 'search' | 'taxonomy' | 'cache'>

/** Loaders and releases in the order of their use, and the other game versions that projects use, newest first. */
export type FacetUse = { loaders: readonly string[]; releases: readonly string[]; snapshots: readonly string[] }

/** The order does not depend on the filters of a list, so that values stay in their place while a visitor filters. */
const USE = defineCache<RememberDefinition<FacetUse>>({
  name: 'facet-use',
  contains: 'Filters of a list in the order of their use',
  maxAgeMs: 10 * MINUTE_MS,
  maxBytes: MIB,
  isStaleAllowed: true,
  sizeOf: ({ loaders, releases, snapshots }) => 20 * (loaders.length + releases.length + snapshots.length),
})

/** Types of projects that have an environment. */
const HAS_ENVIRONMENT: readonly (ProjectType | undefined)[] = [undefined, 'mod', 'modpack']
/** Number of game versions that a list shows first. */
const VERSIONS_SHOWN = 12

export function findFacetUse(deps: UseDeps, { type }: Pick<ListRequest, 'type'>, caller: string): Promise<FacetUse> {
  return deps.cache.remember(USE).get(type ?? '', async () => {
    const { taxonomy } = deps
    const base = normalize(type === undefined ? [] : [fieldIs('project_types', [type])])
    const [loaders, releases, snapshots] = [loadersOfType(taxonomy, type), releasesOf(taxonomy), snapshotsOf(taxonomy)]
    const groups = [
      { values: loaders.map((loader) => fieldIs('categories', [loader])), base },
      { values: [...releases, ...snapshots].map((version) => fieldIs('game_versions', [version])), base },
    ]
    const [loaderCounts = [], versionCounts = []] = await countChoices(deps, { text: '', groups, caller })
    return {
      loaders: mostUsedFirst(loaders, loaderCounts),
      releases: mostUsedFirst(releases, versionCounts),
      snapshots: snapshots.filter((_, index) => (versionCounts[releases.length + index] ?? 0) > 0),
    }
  })
}

/** Values with the same count keep their order. */
function mostUsedFirst(values: readonly string[], counts: readonly number[]): string[] {
  const counted = values.map((value, index) => ({ value, count: counts[index] ?? 0 }))
  return counted.sort((a, b) => b.count - a.count).map(({ value }) => value)
}

/** Modpacks have the loaders of mods. A filter with a single value would be useless. */
function loadersOfType(taxonomy: Taxonomy, type: ProjectType | undefined): string[] {
  const loaders = offered(taxonomy.loaders.values()).filter(
    ({ project_types }) => type === undefined || project_types.includes(type === 'modpack' ? 'mod' : type),
  )
  return loaders.length > 1 ? loaders.map(({ name }) => name) : []
}

function snapshotsOf(taxonomy: Taxonomy): string[] {
  const releases = new Set(releasesOf(taxonomy))
  const versions = offered(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])
  return versions.map(({ value }) => value).filter((value) => !releases.has(value))
}

/** Returns the release after each snapshot, or an empty text if it is not released yet. */
export function releasesOfSnapshots(taxonomy: Taxonomy): Map<string, string> {
  const releases = new Set(releasesOf(taxonomy))
  const found = new Map<string, string>()
  let release = ''
  // Newest first.
  for (const { value } of taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])
    if (releases.has(value)) release = value
    else found.set(value, release)
  return found
}

/** Returns the values of a filter: the values that the type has, and the chosen values. */
export function offeredValues(taxonomy: Taxonomy, list: ListRequest, facet: Facet, use: FacetUse): string[] {
  const chosen = list.chosen[facet].map((value) => value.replace(/^-/, ''))
  return [...new Set([...valuesOfType(taxonomy, list, facet, use), ...chosen])]
}

function valuesOfType(
  taxonomy: Taxonomy,
  { type, all }: ListRequest,
  facet: Facet,
  { loaders, releases, snapshots }: FacetUse,
): readonly string[] {
  switch (facet) {
    case 'c':
      return offered(taxonomy.categories)
        .filter((row) => type === undefined || row.project_type === type)
        .map(({ name }) => name)
    case 'l':
      return loaders
    case 'v':
      return all.includes('v')
        ? [...releasesOf(taxonomy), ...snapshots]
        : releasesOf(taxonomy).filter((value) => releases.slice(0, VERSIONS_SHOWN).includes(value))
    case 'e':
      return HAS_ENVIRONMENT.includes(type) ? (FIXED_VALUES.e ?? []) : []
    default:
      return FIXED_VALUES[facet] ?? []
  }
}
