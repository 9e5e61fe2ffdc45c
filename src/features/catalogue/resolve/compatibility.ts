// The game versions and loaders on which several projects run together, without choosing versions.
import { sql } from 'kysely'
import { invalidInput } from '#lib/errors.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { ResolvingRules } from '#taxonomy/resolving.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { listVisibleProjects } from '../projects/lookup/project-cache.ts'
import { toTarget } from './load/target.ts'
import type { CompatibilityView, SetupView } from './views.ts'

export const COMPARED_MAX = 200
/** Number of setups that the answer names if none fits all projects. */
const NEAREST_MAX = 5

type CompatibilityDeps = { db: Db; cache: EntityCache; config: Config; taxonomy: Taxonomy; resolving: ResolvingRules }

/** The loaders and game versions of some versions of a project. */
type Traits = { project_id: string; loaders: string[]; game_versions: string[] }

/**
 * Finds the setups that fit all projects, as `POST /v3/resolve` would without their dependencies. The answer is the same for
 * every caller: hidden projects do not exist.
 * @param names IDs or slugs
 * @throws ApiError `invalid_input` naming a project that does not exist, or too many
 */
export async function findCompatibility(deps: CompatibilityDeps, names: readonly string[]): Promise<CompatibilityView> {
  if (names.length < 1 || names.length > COMPARED_MAX)
    throw invalidInput(`ids must contain 1 to ${COMPARED_MAX} projects`, 'ids')
  const projects = await listVisibleProjects(deps, null, names)
  const known = new Set(projects.flatMap(({ id, slug }) => [id, slug.toLowerCase()]))
  const unknown = names.findIndex((name) => !known.has(name) && !known.has(name.toLowerCase()))
  if (unknown >= 0) throw invalidInput(`ids.${unknown} is not the ID or slug of a project`, `ids.${unknown}`)
  const ids = projects.map(({ id }) => id)
  const traits = Map.groupBy(await listTraits(deps.db, ids), ({ project_id }) => project_id)
  const setups = setupsOf(deps, ids, traits)
  const fitting = setups.filter(({ missing }) => missing.length === 0)
  const nearest = fitting.length > 0 ? [] : setups.toSorted((a, b) => a.missing.length - b.missing.length)
  return { setups: fitting.map(({ missing: _, ...setup }) => setup), nearest: nearest.slice(0, NEAREST_MAX) }
}

async function listTraits(db: Db, ids: readonly string[]): Promise<Traits[]> {
  const { rows } = await sql<Traits>`
    select project_id, loaders, array_agg(distinct game_version) as game_versions
    from version cross join jsonb_array_elements_text(
      case jsonb_typeof(fields -> 'game_versions') when 'array' then fields -> 'game_versions' else '[]' end) game_version
    where project_id = any(${[...ids]}::text[]) and is_listed(status) and withdrawn_at is null
    group by project_id, loaders`.execute(db)
  return rows
}

type RatedSetup = SetupView & { missing: string[] }

/** Returns the setups that fit at least one project, the newest game version first. */
function setupsOf(
  deps: CompatibilityDeps,
  ids: readonly string[],
  traits: ReadonlyMap<string, readonly Traits[]>,
): RatedSetup[] {
  const gameVersions = offered(deps.taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])
  const fits = commonLoaders(deps, [...traits.values()].flat()).map((loader) => ({
    loader,
    of: new Map(ids.map((id) => [id, gameVersionsOn(deps, loader, traits.get(id) ?? [])])),
  }))
  return gameVersions.flatMap(({ value }) =>
    fits.flatMap(({ loader, of }) => {
      const missing = ids.filter((id) => of.get(id)?.has(value) !== true)
      return missing.length === ids.length ? [] : [{ game_version: value, loader, missing }]
    }),
  )
}

/**
 * Returns the loaders to try: those of the first type in the folders of packs that any project has. Projects of other types,
 * such as resource packs next to mods, run on all of them.
 */
function commonLoaders({ taxonomy, resolving }: CompatibilityDeps, traits: readonly Traits[]): (string | null)[] {
  const used = new Set(traits.flatMap(({ loaders }) => loaders))
  for (const type of Object.keys(resolving.pack_folders)) {
    const loaders = offered(taxonomy.loaders.values()).filter(({ project_types }) => project_types.includes(type))
    const names = loaders.map(({ name }) => name).filter((name) => used.has(name))
    if (names.length > 0) return names
  }
  return [null]
}

/** Returns the game versions of a project's versions that run on a loader. */
function gameVersionsOn(deps: CompatibilityDeps, loader: string | null, traits: readonly Traits[]): Set<string> {
  const { accepted, runsOn } = toTarget(deps, { loaders: loader === null ? [] : [loader] })
  const has = (loaders: readonly string[], wanted: readonly string[]) => loaders.some((name) => wanted.includes(name))
  const isConcerned = traits.some(({ loaders }) => has(loaders, runsOn))
  const fitting = isConcerned ? traits.filter(({ loaders }) => has(loaders, accepted)) : traits
  return new Set(fitting.flatMap(({ game_versions }) => game_versions))
}
