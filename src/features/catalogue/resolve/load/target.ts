// The filter of candidates: the filter of the update check, and the loaders that are accepted after it.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ResolvingRules } from '#taxonomy/resolving.ts'
import { checkLoaders, projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { isListedAndPasses, NOT_WITHDRAWN, type VersionFilter } from '../../versions/lookup/version-filter.ts'

export type Target = {
  filter: VersionFilter
  /** The requested loaders and those that run their content. */
  accepted: readonly string[]
  /** Every loader of the types of projects that run on the requested loaders. Other projects ignore the loaders. */
  runsOn: readonly string[]
  /** Project → the project that replaces it on a requested loader, or null if it is not needed. */
  substitutes: ReadonlyMap<string, string | null>
}

/** @throws ApiError `validation_error` naming an unknown loader. */
export function toTarget(
  { taxonomy, resolving }: { taxonomy: Taxonomy; resolving: ResolvingRules },
  filter: VersionFilter,
): Target {
  const named = (filter.loaders ?? []).map((name) => resolving.aliases[name] ?? name)
  const loaders = checkLoaders(taxonomy, named)
  const families = resolving.families.filter((family) => loaders.some((name) => family.loaders.includes(name)))
  const types = projectTypesOf(taxonomy, loaders)
  return {
    filter: { ...filter, loaders },
    accepted: [...new Set([...loaders, ...families.flatMap(({ also }) => also)])],
    runsOn: [...taxonomy.loaders.values()]
      .filter(({ project_types }) => project_types.some((type) => types.includes(type)))
      .map(({ name }) => name),
    substitutes: new Map(
      resolving.substitutes.filter(({ loader }) => loaders.includes(loader)).map(({ project, by }) => [project, by]),
    ),
  }
}

/**
 * Returns the condition that a row of `version` is listed and matches. `runs` tells whether its project runs on loaders.
 */
export function matches({ filter, accepted }: Target, runs: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  const { loaders: _, ...others } = filter
  if (accepted.length === 0) return isListedAndPasses(others)
  return sql<SqlBool>`case when ${runs} then ${isListedAndPasses({ ...others, loaders: accepted })}
    else ${isListedAndPasses(others)} end`
}

/** Returns the condition that a row of `version` is a candidate, also if nothing names it. */
export function isCandidate(target: Target, runs: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${matches(target, runs)} and ${NOT_WITHDRAWN})`
}

/** Returns the condition that the project `projectId` has a listed version for a loader of the target's types. */
export function runsOnLoaders({ runsOn }: Target, projectId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select from version typed where typed.project_id = ${projectId}
    and is_listed(typed.status) and typed.loaders && ${[...runsOn]}::text[])`
}

/** Returns the sort key that puts versions for the requested loaders before those for the loaders of their families. */
export function familyLast({ filter, accepted }: Target, runs: RawBuilder<SqlBool>): RawBuilder<unknown> {
  if (accepted.length === (filter.loaders ?? []).length) return sql``
  return sql`(${runs} and not ${isListedAndPasses({ loaders: filter.loaders ?? [] })}), `
}
