// The version list of a project: filters, order, and the featured ones or what stands in for them.
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { listVersionIdsOf, listVersionTraits, type VersionListFilter, type VersionTraits } from '../queries.ts'
import { rememberVersionList } from './lookup-cache.ts'

/**
 * IDs of the versions that a list shows, in its order. Asked for featured ones of a project that features none, it
 * gives the newest for each major game version and loader, and where there is no such version all of them.
 */
export function listVersionIdsFor(
  { db, cache, taxonomy }: { db: Db; cache: EntityCache; taxonomy: Taxonomy },
  projectId: string,
  filter: VersionListFilter,
): Promise<readonly string[]> {
  return rememberVersionList({ cache }, { projectId, filter: JSON.stringify(filter) }, () =>
    askVersionIds({ db, taxonomy }, projectId, filter),
  )
}

async function askVersionIds(
  { db, taxonomy }: { db: Db; taxonomy: Taxonomy },
  projectId: string,
  filter: VersionListFilter,
): Promise<string[]> {
  const ids = await listVersionIdsOf(db, projectId, filter)
  if (filter.featured !== true || ids.length > 0) return ids
  const { featured: _, limit, offset = 0, ...rest } = filter
  const traits = await listVersionTraits(db, projectId, rest)
  if (traits.some((version) => version.featured)) return ids
  const chosen = autoFeatured(traits, taxonomy)
  const listed = traits.filter(({ id }) => chosen.size === 0 || chosen.has(id)).map(({ id }) => id)
  return listed.slice(offset, limit === undefined ? undefined : offset + limit)
}

/** For each major game version and loader the first version of the list that has both. */
function autoFeatured(versions: readonly VersionTraits[], taxonomy: Taxonomy): Set<string> {
  const known = taxonomy.fields.get('game_versions')?.enumValues
  const taken = new Set<string>()
  const chosen = new Set<string>()
  for (const { id, loaders, game_versions } of versions) {
    const majors = game_versions.filter((value) => known?.get(value)?.metadata?.major === true)
    for (const pair of majors.flatMap((major) => loaders.map((loader) => `${major} ${loader}`))) {
      if (taken.has(pair)) continue
      taken.add(pair)
      chosen.add(id)
    }
  }
  return chosen
}
