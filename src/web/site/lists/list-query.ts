// Queries the search index for a list: the projects of one page, and the counts next to the filters.

import { countChoices, fieldIs, fieldNamed, releasesOf } from '#features/operations/search/facet-counts.ts'
import { searchProjects } from '#features/operations/search/search-projects.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { offered, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { Deps } from '#ports/deps.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { EVERYTHING, type Expression, type Filter } from '#ports/search-index/filter/tree.ts'
import type { SearchAnswer } from '#ports/search-index/search-index.ts'
import { isSet, NO_SETUP, type Setup } from '#web/kit/cookies.ts'
import { offeredTypes, type ProjectType } from '#web/kit/paths.ts'
import { FACETS, type Facet, FIXED_VALUES, type ListRequest, PER_PAGE, withoutChoice } from './list-request.ts'
import type { Hit } from './rows.ts'

export type Choice = { value: string; count: number }

/** A choice that can be removed from a list, and the number of hits without it. */
export type Removal = { list: ListRequest; facet: Facet | 'setup'; value: string; count: number }

export type FoundList = {
  list: ListRequest
  hits: readonly Hit[]
  total: number
  types: ReadonlyMap<ProjectType, number>
  facets: ReadonlyMap<Facet, readonly Choice[]>
  /** Removals that would lead to hits, if the list is empty. */
  removals: readonly Removal[]
}

/** The results of the index, and a function that parses them. A cached page needs no parsing. */
type ListResults = { results: readonly (Uint8Array | string)[]; parse(): FoundList }

type ListDeps = Pick<Deps, 'search' | 'taxonomy' | 'now' | 'cache' | 'config'>

/** `caller` identifies the client: the index serves clients fairly. */
type HitsRequest = Pick<ListRequest, 'text' | 'sort' | 'page'> & { caller: string }

/** Queries a list with one search and one count of all its filters. */
export async function queryList(deps: ListDeps, list: ListRequest, caller: string): Promise<ListResults> {
  const { taxonomy } = deps
  const now = deps.now()
  const { body, totalHits: total } = await searchHits(deps, { ...list, caller }, filterOf(list, { now, taxonomy }))
  const types = offeredTypes(taxonomy)
  const facets = FACETS.map((facet) => ({ facet, values: offeredValues(taxonomy, list, facet) }))
  const removals = total > 0 ? [] : removalsOf(list)
  const groups = () => [
    {
      values: types.map((type) => fieldIs('project_types', [type])),
      base: filterOf({ ...list, type: undefined }, { now, taxonomy }),
    },
    ...facets.map(({ facet, values }) => ({
      values: values.map((value) => conditionOf(facet, value, now)),
      base: filterOf(ALTERNATIVES.has(facet) ? { ...list, chosen: { ...list.chosen, [facet]: [] } } : list, {
        now,
        taxonomy,
      }),
    })),
    ...removals.map((removal) => ({ values: [EVERYTHING], base: filterOf(removal.list, { now, taxonomy }) })),
  ]
  const key = JSON.stringify({ ...list, page: 0, sort: '', view: '', isEmpty: total === 0 })
  const counts = await deps.cache
    .remember(COUNTS)
    .get(key, () => countChoices(deps, { text: list.text, groups: groups(), caller }))
  const [typeCounts = [], ...others] = counts
  const parse = (): FoundList => ({
    list,
    hits: readHits(body),
    total,
    types: new Map(types.map((type, index) => [type, typeCounts[index] ?? 0])),
    facets: new Map(
      facets.map(({ facet, values }, group) => [
        facet,
        values.map((value, index) => ({ value, count: others[group]?.[index] ?? 0 })),
      ]),
    ),
    removals: removals
      .map((removal, index) => ({ ...removal, count: others[facets.length + index]?.[0] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
  })
  return { results: [body, JSON.stringify(counts)], parse }
}

/** Searches one page of hits. `readHits` parses the body. */
export function searchHits(
  deps: Pick<Deps, 'search' | 'config'>,
  { text, sort, page, caller }: HitsRequest,
  filter: Filter,
  limit = PER_PAGE,
): Promise<SearchAnswer> {
  return searchProjects(deps, { text, filter, sort, offset: (page - 1) * limit, limit }, caller)
}

export function readHits(body: Uint8Array): Hit[] {
  return (JSON.parse(Buffer.from(body).toString()) as { hits: Hit[] }).hits
}

export async function findHits(
  deps: Pick<Deps, 'search' | 'config'>,
  request: HitsRequest,
  filter: Filter,
  limit = PER_PAGE,
): Promise<{ hits: Hit[]; total: number }> {
  const { body, totalHits } = await searchHits(deps, request, filter, limit)
  return { hits: readHits(body), total: totalHits }
}

/** Counting costs ten times as much as the search. */
const COUNTS: RememberDefinition<readonly number[][]> = {
  name: 'list-counts',
  sizeOf: (counts) => 8 * counts.flat().length,
}

/** Maximum number of removals that an empty list counts. */
const REMOVALS_MAX = 12

function removalsOf(list: ListRequest): Omit<Removal, 'count'>[] {
  const choices = FACETS.flatMap((facet) =>
    list.chosen[facet].map((value) => ({ list: withoutChoice(list, facet, value), facet, value })),
  )
  const setup = { list: { ...list, setup: NO_SETUP, ignoresSetup: true }, facet: 'setup' as const, value: '' }
  return [...(isSet(list.setup) ? [setup] : []), ...choices].slice(0, REMOVALS_MAX)
}

/** Number of game versions that a list shows first. */
const RECENT_VERSIONS = 12

/** Returns the values of a filter: the values of the taxonomy for the type, and the chosen values. */
function offeredValues(taxonomy: Taxonomy, list: ListRequest, facet: Facet): string[] {
  const chosen = list.chosen[facet].map((value) => value.replace(/^-/, ''))
  return [...new Set([...taxonomyValues(taxonomy, list, facet), ...chosen])]
}

function taxonomyValues(taxonomy: Taxonomy, { type, all }: ListRequest, facet: Facet): readonly string[] {
  switch (facet) {
    case 'c':
      return offered(taxonomy.categories)
        .filter((row) => type === undefined || row.project_type === type)
        .map(({ name }) => name)
    case 'l':
      return offered(taxonomy.loaders.values())
        .filter((loader) => loader.project_types.includes(type === undefined || type === 'modpack' ? 'mod' : type))
        .map(({ name }) => name)
    case 'v':
      return releasesOf(taxonomy).slice(0, all.includes('v') ? undefined : RECENT_VERSIONS)
    default:
      return FIXED_VALUES[facet] ?? []
  }
}

/** Filters with alternatives: a project matches if one of their values matches. All values of other filters must match. */
const ALTERNATIVES: ReadonlySet<Facet> = new Set(['l', 'v', 'o', 'u'])

type FilterContext = { now: number; taxonomy: Taxonomy }

/** Converts a list into a filter of the index. */
export function filterOf(list: ListRequest, { now, taxonomy }: FilterContext): Filter {
  const parts: Expression[] = []
  if (list.type !== undefined) parts.push(fieldIs('project_types', [list.type]))
  if (list.dependency !== '') parts.push(fieldIs('required_dependency_project_ids', [list.dependency]))
  for (const facet of FACETS) {
    const values = list.chosen[facet]
    const included = values.filter((value) => !value.startsWith('-')).map((value) => conditionOf(facet, value, now))
    if (included.length > 0) parts.push({ kind: ALTERNATIVES.has(facet) ? 'or' : 'and', children: included })
    for (const value of values)
      if (value.startsWith('-')) parts.push({ kind: 'not', child: conditionOf(facet, value.slice(1), now) })
  }
  parts.push(...setupConditions(list.setup, taxonomy))
  return normalize(parts)
}

/** Only projects that run on a loader must match the loader. Data packs and resource packs run on all loaders. */
function setupConditions(setup: Setup, taxonomy: Taxonomy): Expression[] {
  const version = setup.gameVersion === '' ? [] : [fieldIs('game_versions', [setup.gameVersion])]
  if (setup.loader === '') return version
  const others = taxonomy.projectTypes.filter((type) => type !== 'mod' && type !== 'modpack')
  const children = [fieldIs('categories', [setup.loader]), fieldIs('project_types', others)]
  return [...version, { kind: 'or', children }]
}

/** Returns the condition of one value without its sign. */
function conditionOf(facet: Facet, value: string, now: number): Expression {
  switch (facet) {
    case 'c':
      return fieldIs('project_categories', [value])
    case 'l':
      // The loader of a modpack is a category of its versions.
      return fieldIs('categories', [value])
    case 'v':
      return fieldIs('game_versions', [value])
    case 'o':
      return fieldIs('open_source', [value === 'open' ? 'true' : 'false'])
    case 'e':
      return environmentIs(value)
    case 'u':
      return updatedSince(DAYS[value] ?? 0, now)
  }
}

function environmentIs(value: string): Expression {
  const runs = (side: 'client' | 'server') => fieldIs(`${side}_side`, ['required', 'optional'])
  const isUnsupported = (side: 'client' | 'server') => fieldIs(`${side}_side`, ['unsupported'])
  if (value === 'client' || value === 'server') return runs(value)
  const side = value === 'client-only' ? 'client' : 'server'
  return { kind: 'and', children: [runs(side), isUnsupported(side === 'client' ? 'server' : 'client')] }
}

const DAY_SECONDS = 86_400
const DAYS: Readonly<Record<string, number>> = { week: 7, month: 30, year: 365 }

/** Counts days from midnight UTC, so that the filter stays the same for a day and the index can cache it. */
function updatedSince(days: number, now: number): Expression {
  const today = Math.floor(now / 1000 / DAY_SECONDS) * DAY_SECONDS
  return {
    kind: 'compare',
    field: fieldNamed('modified_timestamp'),
    operator: '>=',
    value: today - days * DAY_SECONDS,
    negated: false,
  }
}
