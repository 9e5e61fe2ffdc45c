// Queries the search index for a list: the projects of one page, and the counts next to the filters.
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { countChoices, type FacetGroup, fieldIs, fieldNamed } from '#features/reading/search/facet-counts.ts'
import { searchProjects } from '#features/reading/search/search-projects.ts'
import { editDistance } from '#lib/text/edit-distance.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { EVERYTHING, type Expression, type Filter } from '#ports/search-index/filter/tree.ts'
import { documentWords, foldWords, queryTerms } from '#ports/search-index/fold.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { isSet, NO_SETUP, type Setup, typesOfLoader } from '#web/kit/cookies.ts'
import { offeredTypes, type ProjectType } from '#web/kit/paths.ts'
import { findFacetUse, offeredValues, releasesOfSnapshots } from './facet-values.ts'
import { FACETS, type Facet, type ListRequest, PER_PAGE, SINCE_RELEASE, withoutChoice } from './list-request.ts'
import type { Hit } from './rows.ts'

/** `snapshotOf`: the release after a snapshot, or an empty text before this release. Only snapshots have it. */
export type Choice = { value: string; count: number; snapshotOf?: string | undefined }

/** A choice that can be removed from a list, and the number of hits without it. */
export type Removal = { list: ListRequest; facet: Facet | 'setup'; value: string; count: number }

export type FoundList = {
  list: ListRequest
  hits: readonly Hit[]
  total: number
  /** Text that the hits match, if nothing matches the text of the list. */
  corrected: string | undefined
  /** Number of hits of all types. */
  everything: number
  types: ReadonlyMap<ProjectType, number>
  facets: ReadonlyMap<Facet, readonly Choice[]>
  /** Removals that would lead to hits, if the list is empty. */
  removals: readonly Removal[]
}

type ListDeps = Pick<Deps, 'db' | 'search' | 'taxonomy' | 'now' | 'cache' | 'config'>

/** `caller` identifies the client: the index serves clients fairly. */
type HitsRequest = Pick<ListRequest, 'text' | 'sort' | 'page'> & { caller: string }

/** Queries a list with one search and one count of all its filters. */
export async function queryList(deps: ListDeps, list: ListRequest, caller: string): Promise<FoundList> {
  const { taxonomy } = deps
  const now = deps.now()
  const { hits, total } = await findHits(deps, { ...list, caller }, filterOf(list, { now, taxonomy }))
  const types = offeredTypes(taxonomy)
  const use = await findFacetUse(deps, list, caller)
  const facets = FACETS.map((facet) => ({ facet, values: offeredValues(taxonomy, list, facet, use) }))
  const snapshots = releasesOfSnapshots(taxonomy)
  const removals = total > 0 ? [] : removalsOf(list)
  const key = JSON.stringify({ ...list, page: 0, sort: '', view: '', isEmpty: total === 0 })
  const counts = await deps.cache.remember(COUNTS).get(key, async () => {
    const groups = groupsOf(list, { types, facets, removals, now, taxonomy })
    const found = await countChoices(deps, { text: list.text, groups: [...groups.values()], caller })
    return new Map([...groups.keys()].map((name, index) => [name, found[index]?.[0] ?? 0]))
  })
  const countOf = (...name: string[]): number => counts.get(name.join(' ')) ?? 0
  const found: FoundList = {
    list,
    hits,
    total,
    corrected: await findCorrectedText(deps, list.text, hits),
    everything: countOf('everything'),
    types: new Map(types.map((type) => [type, countOf('type', type)])),
    facets: new Map(
      facets.map(({ facet, values }) => [
        facet,
        values.map((value) => ({
          value,
          count: countOf(facet, value),
          snapshotOf: facet === 'v' ? snapshots.get(value) : undefined,
        })),
      ]),
    ),
    removals: removals
      .map((removal) => ({ ...removal, count: countOf('without', removal.facet, removal.value) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
  }
  return list.isExact ? withoutTypos(found) : found
}

type Offered = {
  types: readonly ProjectType[]
  facets: readonly { facet: Facet; values: readonly string[] }[]
  removals: readonly Omit<Removal, 'count'>[]
}

/** Returns what to count for a list, by name. */
function groupsOf(list: ListRequest, { types, facets, removals, ...context }: FilterContext & Offered) {
  const ofAllTypes = filterOf({ ...list, type: undefined }, context)
  const groups = new Map<string, FacetGroup>([['everything', { values: [EVERYTHING], base: ofAllTypes }]])
  for (const type of types) groups.set(`type ${type}`, { values: [fieldIs('project_types', [type])], base: ofAllTypes })
  for (const { facet, values } of facets) {
    const others = filterOf(
      ALTERNATIVES.has(facet) ? { ...list, chosen: { ...list.chosen, [facet]: [] } } : list,
      context,
    )
    for (const value of values) {
      // An excluded value shows how many hits it would have.
      const isExcluded = list.chosen[facet].includes(`-${value}`)
      const base = isExcluded ? filterOf(withoutChoice(list, facet, `-${value}`), context) : others
      groups.set(`${facet} ${value}`, { values: [conditionOf(facet, value, { list, ...context })], base })
    }
  }
  for (const removal of removals) {
    const base = filterOf(removal.list, context)
    groups.set(`without ${removal.facet} ${removal.value}`, { values: [EVERYTHING], base })
  }
  return groups
}

/** Returns an empty list if the hits match another text. */
function withoutTypos(found: FoundList): FoundList {
  if (found.corrected === undefined) return found
  return { ...found, hits: [], total: 0, corrected: undefined, everything: 0, types: new Map(), facets: new Map() }
}

/** Searches one page of hits. */
export async function findHits(
  deps: Pick<Deps, 'search' | 'config'>,
  { text, sort, page, caller }: HitsRequest,
  filter: Filter,
  limit = PER_PAGE,
): Promise<{ hits: Hit[]; total: number }> {
  const query = { text, filter, sort, offset: (page - 1) * limit, limit }
  const { body, totalHits } = await searchProjects(deps, query, caller)
  return { hits: readHits(body), total: totalHits }
}

export function readHits(body: Uint8Array): Hit[] {
  return (JSON.parse(Buffer.from(body).toString()) as { hits: Hit[] }).hits
}

/** Counting costs ten times as much as the search. */
const COUNTS = defineCache<RememberDefinition<ReadonlyMap<string, number>>>({
  name: 'list-counts',
  contains: 'Counts next to the filters of a list',
  maxAgeMs: 1000,
  maxBytes: 4 * MIB,
  sizeOf: (counts) => [...counts.keys()].reduce((sum, name) => sum + 2 * name.length + 8, 0),
})

/** Maximum number of removals that an empty list counts. */
const REMOVALS_MAX = 12

function removalsOf(list: ListRequest): Omit<Removal, 'count'>[] {
  const choices = FACETS.flatMap((facet) =>
    list.chosen[facet].map((value) => ({ list: withoutChoice(list, facet, value), facet, value })),
  )
  const setup = { list: { ...list, setup: NO_SETUP, ignoresSetup: true }, facet: 'setup' as const, value: '' }
  return [...(isSet(list.setup) ? [setup] : []), ...choices].slice(0, REMOVALS_MAX)
}

/** Filters with alternatives: a project matches if one of their values matches. All values of other filters must match. */
const ALTERNATIVES: ReadonlySet<Facet> = new Set(['l', 'v', 'o', 'u'])

type FilterContext = { now: number; taxonomy: Taxonomy }

/** Converts a list into a filter of the index. */
export function filterOf(list: ListRequest, of: FilterContext): Filter {
  const context = { list, ...of }
  const parts: Expression[] = []
  if (list.type !== undefined) parts.push(fieldIs('project_types', [list.type]))
  if (list.dependency !== '') parts.push(fieldIs('required_dependency_project_ids', [list.dependency]))
  for (const facet of FACETS) {
    const values = list.chosen[facet]
    // The conditions of the game versions contain it.
    const included = includedOf(values).filter((value) => facet !== 'u' || value !== SINCE_RELEASE)
    const children = included.map((value) => conditionOf(facet, value, context))
    if (children.length > 0) parts.push({ kind: ALTERNATIVES.has(facet) ? 'or' : 'and', children })
    for (const value of values)
      if (value.startsWith('-')) parts.push({ kind: 'not', child: conditionOf(facet, value.slice(1), context) })
  }
  parts.push(...setupConditions(list.setup, context))
  return normalize(parts)
}

const includedOf = (values: readonly string[]): string[] => values.filter((value) => !value.startsWith('-'))

/** Only projects of the types that the loader concerns must match the loader: resource packs run on all loaders. */
function setupConditions(setup: Setup, context: ConditionContext): Expression[] {
  const { taxonomy } = context
  const version = setup.gameVersion === '' ? [] : [conditionOf('v', setup.gameVersion, context)]
  if (setup.loader === '') return version
  const concerned = typesOfLoader(taxonomy, setup.loader)
  const others = taxonomy.projectTypes.filter((type) => !concerned.includes(type))
  const children = [fieldIs('categories', [setup.loader]), fieldIs('project_types', others)]
  return [...version, { kind: 'or', children }]
}

type ConditionContext = FilterContext & { list: ListRequest }

/** Returns the condition of one value without its sign. */
function conditionOf(facet: Facet, value: string, context: ConditionContext): Expression {
  switch (facet) {
    case 'c':
      return fieldIs('project_categories', [value])
    case 'l':
      // The loader of a modpack is a category of its versions.
      return fieldIs('categories', [value])
    case 'v':
      return context.list.chosen.u.includes(SINCE_RELEASE)
        ? publishedFor(value, context.taxonomy)
        : fieldIs('game_versions', [value])
    case 'o':
      return fieldIs('open_source', [value === 'open' ? 'true' : 'false'])
    case 'e':
      return environmentIs(value)
    case 'u':
      return value === SINCE_RELEASE ? anyPublishedFor(context) : updatedSince(DAYS[value] ?? 0, context.now)
  }
}

/** Matches versions for a game version that were published since its release. */
function publishedFor(value: string, taxonomy: Taxonomy): Expression {
  const released = Date.parse(taxonomy.fields.get('game_versions')?.enumValues?.get(value)?.created ?? '')
  const isFor = fieldIs('game_versions', [value])
  if (Number.isNaN(released)) return isFor
  return { kind: 'and', children: [isFor, atLeast('version_published_timestamp', Math.floor(released / 1000))] }
}

/** Without a chosen game version, nothing matches, so that the filter does not offer the value. */
function anyPublishedFor({ list, taxonomy }: ConditionContext): Expression {
  const versions = [...includedOf(list.chosen.v), list.setup.gameVersion].filter((value) => value !== '')
  return { kind: 'or', children: versions.map((value) => publishedFor(value, taxonomy)) }
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
  return atLeast('modified_timestamp', today - days * DAY_SECONDS)
}

function atLeast(field: string, value: number): Expression {
  return { kind: 'compare', field: fieldNamed(field), operator: '>=', value, negated: false }
}

/** Number of hits whose words can replace a misspelt word. */
const HITS_READ = 5

/**
 * Returns the text with the nearest words of the first hits in place of words that no hit contains; undefined if the first
 * hit matches the text as typed.
 */
async function findCorrectedText(deps: ListDeps, text: string, hits: readonly Hit[]): Promise<string | undefined> {
  const words = foldWords(text)
  const [best] = hits
  const [first, ...others] = hits.slice(0, HITS_READ).map((hit) => wordsOf(hit))
  if (words.length === 0 || best === undefined || first === undefined || matches(first, words)) return undefined
  // A hit does not show its other names.
  const [project] = await listVisibleProjects(deps, null, [best.project_id])
  if (project !== undefined && matches(wordsOf(best, viewOf(project).other_names), words)) return undefined
  const misspelt = words.filter((word) => !hasWord(first, word))
  const candidates = [first, ...others].flatMap(({ terms }) => terms)
  return words.map((word) => (misspelt.includes(word) ? nearest(word, candidates) : word)).join(' ')
}

type HitWords = { name: string; slug: string; aliases: readonly string[]; terms: string[] }

function wordsOf({ name, slug, author, summary }: Hit, other_names: readonly string[] = []): HitWords {
  const words = documentWords({ name, other_names, slug, author, summary })
  return { name: words.name.join(''), slug: words.slug.join(''), aliases: words.aliases, terms: [...words.terms] }
}

const hasWord = ({ terms }: HitWords, word: string): boolean =>
  queryTerms([word]).every((term) => terms.some((other) => other.startsWith(term)))

/** A name that differs in its spaces does not count as misspelt. */
function matches(hit: HitWords, words: readonly string[]): boolean {
  const joined = words.join('')
  return (
    words.every((word) => hasWord(hit, word)) ||
    [hit.name, hit.slug].some((name) => name.startsWith(joined)) ||
    hit.aliases.includes(joined)
  )
}

/** Returns the candidate with the fewest edits. A word that is still being typed counts as the beginning of a candidate. */
function nearest(word: string, candidates: readonly string[]): string {
  const distances = candidates.map((term) => ({
    term,
    edits: Math.min(editDistance(word, term), editDistance(word, term.slice(0, word.length)) + 0.5),
  }))
  return distances.reduce((best, each) => (each.edits < best.edits ? each : best), {
    term: word,
    edits: word.length / 2 + 1,
  }).term
}
