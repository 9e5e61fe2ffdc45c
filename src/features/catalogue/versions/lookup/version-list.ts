// The version list of a project: filters, order, and featured versions or their replacements.
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import type { Position } from '#platform/db/list-position.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import {
  listSharedNumbersOf,
  listVersionIdsOf,
  listVersionTraits,
  type VersionListFilter,
  type VersionTraits,
} from '../queries.ts'
import { rememberVersionList } from './lookup-cache.ts'

/**
 * Returns the IDs of a project's version list. If the filter requires featured versions and the project has none, returns
 * the newest version and the newest for each major game version and loader, or all versions if no version has a major game
 * version.
 */
export function listVersionIdsFor(
  { db, cache, taxonomy }: { db: Db; cache: EntityCache; taxonomy: Taxonomy },
  projectId: string,
  filter: VersionListFilter,
): Promise<readonly string[]> {
  return rememberVersionList({ cache }, { projectId, filter: JSON.stringify(filter) }, () =>
    readVersionIds({ db, taxonomy }, projectId, filter),
  )
}

type VersionPage = {
  filter: VersionListFilter
  limit: number | undefined
  offset: number | undefined
  after: Position | undefined
}

/**
 * Returns a part of the list that `listVersionIdsFor` returns, and the cursor of the next part. A cursor is the place of a
 * version in the list and its ID: if the version was deleted, the list continues with the one that has its place now.
 */
export async function listVersionPage(
  deps: { db: Db; cache: EntityCache; taxonomy: Taxonomy },
  projectId: string,
  { filter, limit, offset = 0, after }: VersionPage,
): Promise<{ ids: readonly string[]; next: string | null }> {
  // One more than the page shows whether there is a next one.
  const isWhole = after !== undefined
  const ids = await listVersionIdsFor(deps, projectId, {
    ...filter,
    ...(isWhole || limit === undefined ? {} : { limit: limit + 1 }),
    ...(isWhole || offset === 0 ? {} : { offset }),
  })
  const start = isWhole ? placeAfter(ids, after) + offset : 0
  const page = ids.slice(start, limit === undefined ? undefined : start + limit)
  const end = start + page.length
  const last = page.at(-1)
  const next = last === undefined || end === ids.length ? null : `${(isWhole ? 0 : offset) + end - 1}-${last}`
  return { ids: page, next }
}

function placeAfter(ids: readonly string[], { value, id }: Position): number {
  const place = ids.indexOf(id)
  return place === -1 ? Math.max(0, Number(value)) : place + 1
}

/** Returns the version numbers that identify several listed versions of a project, so that links must use their IDs. */
export function listSharedNumbers(
  { db, cache }: { db: Db; cache: EntityCache },
  projectId: string,
): Promise<readonly string[]> {
  return rememberVersionList({ cache }, { projectId, filter: 'shared numbers' }, () =>
    listSharedNumbersOf(db, projectId),
  )
}

async function readVersionIds(
  { db, taxonomy }: { db: Db; taxonomy: Taxonomy },
  projectId: string,
  filter: VersionListFilter,
): Promise<string[]> {
  const ids = await listVersionIdsOf(db, projectId, filter)
  if (filter.featured !== true || ids.length > 0) return ids
  const { featured: _, limit, offset = 0, ...rest } = filter
  const traits = await listVersionTraits(db, projectId, { ...rest, offered: true })
  if (traits.some((version) => version.featured)) return ids
  const chosen = autoFeatured(traits, taxonomy)
  // The newest version can be for a snapshot.
  const listed = traits.map(({ id }) => id).filter((id, index) => index === 0 || chosen.size === 0 || chosen.has(id))
  return listed.slice(offset, limit === undefined ? undefined : offset + limit)
}

/** Returns the first version in the list for each pair of major game version and loader. */
function autoFeatured(versions: readonly VersionTraits[], taxonomy: Taxonomy): Set<string> {
  const knownVersions = taxonomy.fields.get('game_versions')?.enumValues
  const pairs = new Set<string>()
  const chosen = new Set<string>()
  for (const { id, loaders, game_versions } of versions) {
    const majors = game_versions.filter((value) => knownVersions?.get(value)?.metadata?.major === true)
    for (const pair of majors.flatMap((major) => loaders.map((loader) => `${major} ${loader}`))) {
      if (pairs.has(pair)) continue
      pairs.add(pair)
      chosen.add(id)
    }
  }
  return chosen
}
