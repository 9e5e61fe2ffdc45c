// The URL of a list: converts it into the requested list and back.
import { SORTS, type Sort } from '#ports/search-index/search-index.ts'
import { NO_SETUP, type Setup } from '#web/kit/cookies.ts'
import { listPath, type ProjectType, pageNumber, withQuery } from '#web/kit/paths.ts'

/** Keys of the filters in the URL: category, loader, game version, environment, licence, update. `-` before a value excludes it. */
export const FACETS = ['c', 'l', 'v', 'e', 'o', 'u'] as const
export type Facet = (typeof FACETS)[number]

/** Maximum number of values per filter. The page says if the URL contains more. */
export const VALUES_MAX = 50
const VALUE_LENGTH_MAX = 64
const TEXT_LENGTH_MAX = 256
const PAGE_MAX = 100_000
export const PER_PAGE = 20

export const LIST_VIEWS = ['rows', 'grid'] as const
export type ListView = (typeof LIST_VIEWS)[number]

/** Returns the default view: the grid for resource packs and shaders, which users choose by their looks. */
export const defaultView = (type: ProjectType | undefined): ListView =>
  type === 'resourcepack' || type === 'shader' ? 'grid' : 'rows'

/** Returns the default order: by downloads without a text, because no project is more relevant than others. */
const defaultSort = (text: string): Sort => (text.trim() === '' ? 'downloads' : 'relevance')

/** Returns the orders that a list offers. */
export const sortsOf = ({ text }: Pick<ListRequest, 'text'>): readonly Sort[] =>
  text.trim() === '' ? SORTS.filter((sort) => sort !== 'relevance') : SORTS

export type ListRequest = {
  type: ProjectType | undefined
  text: string
  chosen: Readonly<Record<Facet, readonly string[]>>
  sort: Sort
  view: ListView
  /** Number of the page, from 1. */
  page: number
  /** Setup that the list is limited to, empty if the URL ignores it. */
  setup: Setup
  ignoresSetup: boolean
  /** Filters that show all their values. */
  all: readonly string[]
  /** Whether the list contains no hits with typos. */
  isExact: boolean
  /** Whether the URL contains more values than the list uses. */
  isCut: boolean
  /** ID of the project that the listed projects depend on, or empty. */
  dependency: string
}

export const NOTHING_CHOSEN: ListRequest['chosen'] = { c: [], l: [], v: [], e: [], o: [], u: [] }

/** Value of the update filter: the version was published since the release of the chosen game version. */
export const SINCE_RELEASE = 'release'

/** Filters with a fixed set of values. */
export const FIXED_VALUES: Readonly<Partial<Record<Facet, readonly string[]>>> = {
  e: ['client', 'server', 'client-only', 'server-only'],
  o: ['open', 'closed'],
  u: [SINCE_RELEASE, 'week', 'month', 'year'],
}

type Source = { query(name: string): string; queries(name: string): string[]; setup: Setup }

export function readListRequest({ query, queries, setup }: Source, type: ProjectType | undefined): ListRequest {
  const written = (facet: Facet) => [...new Set(queries(facet))].filter((value) => isValid(facet, value))
  const values = (facet: Facet) => written(facet).slice(0, VALUES_MAX)
  const ignoresSetup = query('setup') === 'any'
  const usedSetup = ignoresSetup ? NO_SETUP : setup
  const hasVersion = usedSetup.gameVersion !== '' || values('v').some((value) => !value.startsWith('-'))
  // Without a game version, there is no release to compare with.
  const updated = values('u').filter((value) => hasVersion || value.replace(/^-/, '') !== SINCE_RELEASE)
  const text = query('q').slice(0, TEXT_LENGTH_MAX).toWellFormed()
  return {
    type,
    text,
    chosen: { c: values('c'), l: values('l'), v: values('v'), e: values('e'), o: values('o'), u: updated },
    sort: sortsOf({ text }).find((sort) => sort === query('sort')) ?? defaultSort(text),
    view: LIST_VIEWS.find((view) => view === query('view')) ?? defaultView(type),
    page: Math.min(pageNumber({ query }), PAGE_MAX),
    setup: usedSetup,
    ignoresSetup,
    all: queries('all').slice(0, 6),
    isExact: query('exact') === '1',
    isCut: FACETS.some((facet) => written(facet).length > VALUES_MAX),
    dependency: /^[A-Za-z0-9]{8}$/.exec(query('dep'))?.[0] ?? '',
  }
}

function isValid(facet: Facet, written: string): boolean {
  const value = written.replace(/^-/, '')
  if (value === '' || value.length > VALUE_LENGTH_MAX || !value.isWellFormed()) return false
  return FIXED_VALUES[facet]?.includes(value) ?? true
}

/** Returns the URL of a list with some changes. It leads to the first page unless `changes` contains a page. */
export function listUrl(list: ListRequest, changes: Partial<ListRequest> = {}): string {
  const { type, text, chosen, sort, view, page, ignoresSetup, all, isExact, dependency } = {
    ...list,
    page: 1,
    ...changes,
  }
  return withQuery(listPath(type), {
    q: text,
    ...chosen,
    dep: dependency,
    exact: isExact ? '1' : '',
    sort: sort === 'relevance' || sort === defaultSort(text) ? '' : sort,
    view: view === defaultView(type) ? '' : view,
    setup: ignoresSetup ? 'any' : '',
    all,
    page: page === 1 ? '' : String(page),
  })
}

/** Returns the same list without one value of a filter. */
export function withoutChoice(list: ListRequest, facet: Facet, value: string): ListRequest {
  const rest = list.chosen[facet].filter((chosen) => chosen !== value)
  return { ...list, chosen: { ...list.chosen, [facet]: rest } }
}

/**
 * Returns the list of another type, or of all types. Categories belong to a type, so that the choice of categories ends
 * with another type.
 */
export function withType(list: ListRequest, type: ProjectType | undefined): ListRequest {
  const c = type === undefined ? list.chosen.c : []
  return { ...list, type, view: defaultView(type), chosen: { ...list.chosen, c } }
}

export const hasChoices = (list: ListRequest): boolean => FACETS.some((facet) => list.chosen[facet].length > 0)

/** Whether the list has no filter or search text, so that search engines should list it. */
export function isPlain(list: ListRequest): boolean {
  return listUrl(list) === listPath(list.type)
}
