// Counts the hits of a search for each further filter of a list.
import type { Static } from 'typebox'
import type { Deps } from '#ports/deps.ts'
import { FIELDS, type Field } from '#ports/search-index/filter/fields.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import type { Expression, Filter } from '#ports/search-index/filter/tree.ts'
import { MAX_COUNTED, type SearchQuery } from '#ports/search-index/search-index.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FacetCounts } from './views.ts'

/** Filters to count, each combined with `base`. */
export type FacetGroup = { values: readonly Expression[]; base: Filter }

/** @throws Error for an unknown field */
export function fieldNamed(name: string): Field {
  const field = FIELDS.get(name)
  if (field === undefined) throw new Error(`Unknown filter field ${name}`)
  return field
}

/** Returns a filter for a field with one of the values. @throws Error for an unknown field */
export function fieldIs(name: string, values: readonly string[], negated = false): Expression {
  return { kind: 'equals', field: fieldNamed(name), values, negated }
}

/** @property caller identifies the client, because searches wait in turn between callers */
export type Choices = { text: string; groups: readonly FacetGroup[]; caller: string }

/**
 * Returns the number of hits of each filter of each group, in order.
 * @throws ApiError `invalid_input` if the filters exceed a limit, `search_error` while no index can be searched
 */
export async function countChoices(
  { search }: Pick<Deps, 'search'>,
  { text, groups, caller }: Choices,
): Promise<number[][]> {
  const filters = groups.flatMap(({ values, base }) => values.map((value) => normalize([base, value])))
  const counts: number[] = []
  for (let from = 0; from < filters.length; from += MAX_COUNTED)
    counts.push(...(await search.count({ text, filters: filters.slice(from, from + MAX_COUNTED) }, caller)))
  return groups.map(({ values }) => counts.splice(0, values.length))
}

/** Returns the number of hits of every value that lists offer, in addition to the filters of the search. */
export async function countFacets(
  deps: Pick<Deps, 'search' | 'taxonomy'>,
  { text, filter }: SearchQuery,
  caller: string,
): Promise<Static<typeof FacetCounts>> {
  const fields = offeredValues(deps.taxonomy)
  const groups = fields.map(({ field, values }) => ({
    values: values.map((value) => fieldIs(field, [value])),
    base: filter,
  }))
  const [total = 0] = await deps.search.count({ text, filters: [filter] }, caller)
  const counts = await countChoices(deps, { text, groups, caller })
  const byName = Object.fromEntries(
    fields.map(({ name, values }, group) => [
      name,
      Object.fromEntries(values.map((value, index) => [value, counts[group]?.[index] ?? 0])),
    ]),
  )
  return { total_hits: total, ...byName } as Static<typeof FacetCounts>
}

function offeredValues(taxonomy: Taxonomy): { name: string; field: string; values: string[] }[] {
  const environments = [...(taxonomy.fields.get('environment')?.enumValues?.keys() ?? [])]
  return [
    { name: 'project_types', field: 'project_types', values: [...taxonomy.projectTypes] },
    { name: 'categories', field: 'project_categories', values: namesOf(taxonomy.categories).sort() },
    { name: 'loaders', field: 'loaders', values: namesOf(taxonomy.loaders.values()) },
    { name: 'game_versions', field: 'game_versions', values: releasesOf(taxonomy) },
    { name: 'environment', field: 'environment', values: environments },
    { name: 'open_source', field: 'open_source', values: ['true', 'false'] },
  ]
}

const namesOf = (rows: Iterable<{ name: string; hidden?: boolean }>): string[] => [
  ...new Set(offered(rows).map(({ name }) => name)),
]

/** Returns the released game versions, newest first. */
export function releasesOf(taxonomy: Taxonomy): string[] {
  return offered(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])
    .filter(({ metadata }) => metadata?.type === 'release')
    .map(({ value }) => value)
}
