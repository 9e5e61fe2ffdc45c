// What the address of a list asks for, and the address that asks for it: each is made from the other.
import { fieldIs } from '#features/operations/search/facet-counts.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { FIELDS } from '#ports/search-index/filter/fields.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import type { Expression, Filter } from '#ports/search-index/filter/tree.ts'
import { SORTS, type Sort } from '#ports/search-index/search-index.ts'
import { isSet, NO_SETUP, type Setup } from '#web/kit/setup.ts'
import { listPath, type ProjectType, withQuery } from '#web/kit/site-paths.ts'

/** The kinds of filters, by their key in the address. A value that begins with `-` excludes. */
export const FACETS = ['c', 'l', 'v', 'e', 'o', 'u'] as const
export type Facet = (typeof FACETS)[number]

/** Of each kind; an address that asks for more says so on its page. */
export const VALUES_MAX = 50
const VALUE_LENGTH_MAX = 64
const TEXT_LENGTH_MAX = 256
/** Further than anybody turns pages. */
const PAGE_MAX = 100_000
export const PER_PAGE = 20

export const LIST_VIEWS = ['rows', 'grid'] as const
export type ListView = (typeof LIST_VIEWS)[number]

/** What is chosen by its looks is shown by them. */
export const usualView = (type: ProjectType | undefined): ListView =>
  type === 'resourcepack' || type === 'shader' ? 'grid' : 'rows'

export type ListRequest = {
  type: ProjectType | undefined
  text: string
  chosen: Readonly<Record<Facet, readonly string[]>>
  sort: Sort
  /** Rows, or pictures beside each other. */
  view: ListView
  /** From 1. */
  page: number
  /** The setup that the list keeps to, empty where the address waives it. */
  setup: Setup
  isSetupWaived: boolean
  /** Kinds of which all values are listed. */
  all: readonly string[]
  /** Whether the address has more filters than are used. */
  isCut: boolean
  /** Needed projects, by ID. */
  dependency: string
}

const KNOWN: Readonly<Partial<Record<Facet, readonly string[]>>> = {
  e: ['client', 'server', 'client-only', 'server-only'],
  o: ['open', 'closed'],
  u: ['week', 'month', 'year'],
}
export const valuesOf = (facet: 'e' | 'o' | 'u'): readonly string[] => KNOWN[facet] ?? []

type Read = { query(name: string): string; queries(name: string): string[]; setup: Setup }

export function readListRequest({ query, queries, setup }: Read, type: ProjectType | undefined): ListRequest {
  let isCut = false
  const read = (facet: Facet): string[] => {
    const written = [...new Set(queries(facet))].filter((value) => isUsable(facet, value.replace(/^-/, '')))
    isCut ||= written.length > VALUES_MAX
    return written.slice(0, VALUES_MAX)
  }
  const chosen = { c: read('c'), l: read('l'), v: read('v'), e: read('e'), o: read('o'), u: read('u') }
  const sort = SORTS.find((known) => known === query('sort')) ?? 'relevance'
  const page = Number(/^[1-9]\d{0,6}$/.exec(query('page'))?.[0] ?? 1)
  const isSetupWaived = query('setup') === 'any'
  return {
    type,
    text: query('q').slice(0, TEXT_LENGTH_MAX).toWellFormed(),
    chosen,
    sort,
    view: LIST_VIEWS.find((known) => known === query('view')) ?? usualView(type),
    page: Math.min(page, PAGE_MAX),
    setup: isSetupWaived ? NO_SETUP : setup,
    isSetupWaived,
    all: queries('all').slice(0, 6),
    isCut,
    dependency: /^[A-Za-z0-9]{8}$/.exec(query('dep'))?.[0] ?? '',
  }
}

function isUsable(facet: Facet, value: string): boolean {
  if (value === '' || value.length > VALUE_LENGTH_MAX || !value.isWellFormed()) return false
  return KNOWN[facet]?.includes(value) ?? true
}

/** The address of a list. Whatever is left out of `changes` stays; the page is the first one again. */
export function listAddress(request: ListRequest, changes: Partial<ListRequest> = {}): string {
  const { type, text, chosen, sort, view, page, isSetupWaived, all, dependency } = { ...request, page: 1, ...changes }
  return withQuery(listPath(type), {
    q: text,
    ...chosen,
    dep: dependency,
    sort: sort === 'relevance' ? '' : sort,
    view: view === usualView(type) ? '' : view,
    setup: isSetupWaived ? 'any' : '',
    all,
    page: page === 1 ? '' : String(page),
  })
}

/** The same list without one choice. */
export function withoutChoice(request: ListRequest, facet: Facet, value: string): ListRequest {
  const left = request.chosen[facet].filter((each) => each !== value)
  return { ...request, chosen: { ...request.chosen, [facet]: left } }
}

export const hasChoices = (request: ListRequest): boolean => FACETS.some((facet) => request.chosen[facet].length > 0)

const DAY_SECONDS = 86_400
const DAYS: Readonly<Record<string, number>> = { week: 7, month: 30, year: 365 }

/** The condition behind one value of a kind, without its sign. */
export function conditionOf(facet: Facet, value: string, now: number): Expression {
  switch (facet) {
    case 'c':
      return fieldIs('project_categories', [value])
    case 'l':
      // Of a pack it is a loader inside it, which stands among the categories of its versions.
      return fieldIs('categories', [value])
    case 'v':
      return fieldIs('game_versions', [value])
    case 'o':
      return fieldIs('open_source', [value === 'open' ? 'true' : 'false'])
    case 'e':
      return environment(value)
    case 'u':
      return updatedSince(DAYS[value] ?? 0, now)
  }
}

function environment(value: string): Expression {
  const runs = (side: 'client' | 'server') => fieldIs(`${side}_side`, ['required', 'optional'])
  const lacks = (side: 'client' | 'server') => fieldIs(`${side}_side`, ['unsupported'])
  if (value === 'client' || value === 'server') return runs(value)
  const side = value === 'client-only' ? 'client' : 'server'
  return { kind: 'and', children: [runs(side), lacks(side === 'client' ? 'server' : 'client')] }
}

/** Days begin at midnight, so that the same list is asked for all day. */
function updatedSince(days: number, now: number): Expression {
  const field = FIELDS.get('modified_timestamp')
  if (field === undefined) throw new Error('No filter names modified_timestamp')
  const today = Math.floor(now / 1000 / DAY_SECONDS) * DAY_SECONDS
  return { kind: 'compare', field, operator: '>=', value: today - days * DAY_SECONDS, negated: false }
}

/** Categories and environments must all hold; of versions, loaders and the others any will do. */
const IS_ALL: ReadonlySet<Facet> = new Set(['c', 'e'])

/**
 * The filter of a list.
 * @param without kinds that are left out, for counting what their values would give
 */
export function filterOf(
  request: ListRequest,
  {
    now,
    taxonomy,
    without = [],
    isTypeless = false,
  }: { now: number; taxonomy: Taxonomy; without?: readonly Facet[]; isTypeless?: boolean },
): Filter {
  const parts: Expression[] = []
  if (request.type !== undefined && !isTypeless) parts.push(fieldIs('project_types', [request.type]))
  if (request.dependency !== '') parts.push(fieldIs('required_dependency_project_ids', [request.dependency]))
  for (const facet of FACETS) {
    if (without.includes(facet)) continue
    const [inside, outside] = [signed(request, facet, false), signed(request, facet, true)]
    const conditions = inside.map((value) => conditionOf(facet, value, now))
    if (conditions.length > 0) parts.push({ kind: IS_ALL.has(facet) ? 'and' : 'or', children: conditions })
    for (const value of outside) parts.push({ kind: 'not', child: conditionOf(facet, value, now) })
  }
  parts.push(...setupConditions(request.setup, taxonomy))
  return normalize(parts)
}

function signed(request: ListRequest, facet: Facet, isOut: boolean): string[] {
  return request.chosen[facet]
    .filter((value) => value.startsWith('-') === isOut)
    .map((value) => value.replace(/^-/, ''))
}

/** A loader is asked of what runs on one; packs of pictures and of data run on all. */
function setupConditions(setup: Setup, taxonomy: Taxonomy): Expression[] {
  if (!isSet(setup)) return []
  const version = setup.gameVersion === '' ? [] : [fieldIs('game_versions', [setup.gameVersion])]
  if (setup.loader === '') return version
  const others = taxonomy.projectTypes.filter((type) => type !== 'mod' && type !== 'modpack')
  const fits: Expression = {
    kind: 'or',
    children: [fieldIs('categories', [setup.loader]), fieldIs('project_types', others)],
  }
  return [...version, fits]
}
