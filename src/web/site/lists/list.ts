// Lists of projects: of one type, and of all that a search finds.

import type { FastifyReply } from 'fastify'
import { countChoices, fieldIs, releasesOf } from '#features/operations/search/facet-counts.ts'
import type { DerivedDefinition } from '#platform/cache/derived-cache.ts'
import type { Page } from '#platform/html/layout.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { Deps } from '#ports/deps.ts'
import { EVERYTHING, type Expression, type Filter } from '#ports/search-index/filter/tree.ts'
import type { SearchAnswer } from '#ports/search-index/search-index.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { isSet, NO_SETUP } from '#web/kit/setup.ts'
import { feedLinks, offeredTypes, type ProjectType } from '#web/kit/site-paths.ts'
import {
  conditionOf,
  FACETS,
  type Facet,
  filterOf,
  type ListRequest,
  listAddress,
  PER_PAGE,
  readListRequest,
  usualView,
  valuesOf,
  withoutChoice,
} from './list-request.ts'
import { listTitle } from './list-title.ts'
import { listView } from './list-view.ts'
import { withChannels, withDetails } from './row-details.ts'
import { type Hit, type ProjectRow, rowOfHit } from './rows.ts'

export type Choice = { value: string; count: number }
/** What a list shows beside its hits. */
export type ListCounts = {
  types: ReadonlyMap<ProjectType, number>
  facets: ReadonlyMap<Facet, readonly Choice[]>
  /** Where nothing is found: what each choice alone keeps out. */
  drops: readonly { request: ListRequest; facet: Facet | 'setup'; value: string; count: number }[]
}

export type FoundList = { request: ListRequest; hits: readonly Hit[]; total: number; counts: ListCounts }

/** What the index answers, not looked at yet: `read` makes of it what a page shows. */
type ListAnswer = { answers: readonly (Uint8Array | string)[]; read(): FoundList }

/** The page of a list; one beyond the end is not there. */
export async function showList(request: SiteRequest, type: ProjectType | undefined): Promise<FastifyReply> {
  const { deps, showFound } = request
  const asked = readListRequest(request, type)
  const { answers, read } = await askList(deps, asked, callerOf(request.req))
  return showFound(answers, async () => {
    const found = read()
    const rows = found.hits.map(rowOfHit)
    const detailed = asked.view === 'grid' ? withChannels(request, rows) : withDetails(request, rows)
    return listPage(request, { ...found, rows: await detailed })
  })
}

function listPage(request: SiteRequest, found: FoundList & { rows: ProjectRow[] }): Page & { status?: number } {
  const { page } = request
  const asked = found.request
  const { type } = asked
  const last = Math.max(1, Math.ceil(found.total / PER_PAGE))
  const isBeyond = asked.page > last
  const title = listTitle(page.language, asked, found.total)
  const isPlain =
    listAddress(asked) ===
    listAddress({
      ...asked,
      text: '',
      chosen: { c: [], l: [], v: [], e: [], o: [], u: [] },
      sort: 'relevance',
      view: usualView(type),
      isSetupWaived: false,
      all: [],
      dependency: '',
    })
  const feed = listAddress(asked)
  return {
    status: isBeyond ? 404 : 200,
    title,
    description: page.language.t('site.list.description', { name: page.site.name }),
    canonical: listAddress({ ...asked, all: [], isSetupWaived: false }, { page: asked.page }),
    isUnlisted: !isPlain || isBeyond,
    className: 'page browse',
    openGraph: { type: 'website' },
    feeds: feedLinks(feed, page.language.t('site.feed.list')),
    ...(asked.page > 1 && !isBeyond ? { previous: listAddress(asked, { page: asked.page - 1 }) } : {}),
    ...(asked.page < last ? { next: listAddress(asked, { page: asked.page + 1 }) } : {}),
    body: listView(request, { ...found, title, last }),
  }
}

/** One search, and one count of everything beside it. */
async function askList(deps: CountDeps, request: ListRequest, caller: string): Promise<ListAnswer> {
  const filter = filterOf(request, { now: deps.now(), taxonomy: deps.taxonomy })
  const { body, totalHits: total } = await askHits(deps, { ...request, caller }, filter)
  const { counted, read } = await countList(deps, request, { total, caller })
  return {
    answers: [body, JSON.stringify(counted)],
    read: () => ({ request, hits: readHits(body), total, counts: read() }),
  }
}

/** @property caller who asks, and waits fairly with the others */
type HitsRequest = Pick<ListRequest, 'text' | 'sort' | 'page'> & { caller: string }

/** A page of hits as the index answers it: `readHits` reads its body. */
export function askHits(
  { search }: Pick<Deps, 'search'>,
  { text, sort, page, caller }: HitsRequest,
  filter: Filter,
  limit = PER_PAGE,
): Promise<SearchAnswer> {
  return search.search({ text, filter, sort, offset: (page - 1) * limit, limit }, caller)
}

export function readHits(body: Uint8Array): Hit[] {
  return (JSON.parse(Buffer.from(body).toString()) as { hits: Hit[] }).hits
}

export async function findHits(
  deps: Pick<Deps, 'search'>,
  request: HitsRequest,
  filter: Filter,
  limit = PER_PAGE,
): Promise<{ hits: Hit[]; total: number }> {
  const { body, totalHits } = await askHits(deps, request, filter, limit)
  return { hits: readHits(body), total: totalHits }
}

type CountDeps = Pick<Deps, 'search' | 'taxonomy' | 'now' | 'cache'>

const COUNTS: DerivedDefinition<{ counted: readonly number[][]; at: number }> = {
  name: 'list-counts',
  sizeOf: ({ counted }) => 8 * counted.flat().length,
}
/** How old the numbers beside the choices may be. Counting them costs ten times what the search costs. */
const COUNTS_MS = 1000

/** Counts of a moment ago where there are some, for many who look at the same list. */
async function keepCounts(
  { cache, now }: CountDeps,
  key: string,
  count: () => Promise<readonly number[][]>,
): Promise<readonly number[][]> {
  const kept = cache.derived(COUNTS)
  const known = kept.peek(key)
  const at = now()
  if (known !== undefined && at - known.at < COUNTS_MS) return known.counted
  const making = kept.begin(cache)
  try {
    const counted = await count()
    making.store(key, { counted, at })
    return counted
  } finally {
    making.end()
  }
}

type Counted = { counted: readonly number[][]; read(): ListCounts }

async function countList(
  deps: CountDeps,
  request: ListRequest,
  { total, caller }: { total: number; caller: string },
): Promise<Counted> {
  const { taxonomy } = deps
  const now = deps.now()
  const types = offeredTypes(taxonomy)
  const facets = FACETS.map((facet) => ({ facet, values: offered(taxonomy, request, facet) }))
  const lifted = new Set<Facet>(['l', 'v', 'o', 'u'])
  const drops = total > 0 ? [] : withoutOne(request)
  const groups = () => [
    {
      values: types.map((type): Expression => fieldIs('project_types', [type])),
      beside: filterOf(request, { now, taxonomy, isTypeless: true }),
    },
    ...facets.map(({ facet, values }) => ({
      values: values.map((value) => conditionOf(facet, value, now)),
      beside: filterOf(request, { now, taxonomy, without: lifted.has(facet) ? [facet] : [] }),
    })),
    ...drops.map((drop) => ({ values: [EVERYTHING], beside: filterOf(drop.request, { now, taxonomy }) })),
  ]
  const key = JSON.stringify({ ...request, page: 0, sort: '', view: '', isNothing: total === 0 })
  const counted = await keepCounts(deps, key, () =>
    countChoices(deps, { text: request.text, groups: groups(), caller }),
  )
  const [ofTypes = [], ...rest] = counted
  const read = (): ListCounts => ({
    types: new Map(types.map((type, index) => [type, ofTypes[index] ?? 0])),
    facets: new Map(
      facets.map(({ facet, values }, group) => [
        facet,
        values.map((value, index) => ({ value, count: rest[group]?.[index] ?? 0 })),
      ]),
    ),
    drops: drops
      .map((drop, index) => ({ ...drop, count: rest[facets.length + index]?.[0] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
  })
  return { counted, read }
}

/** Choices that are tried one by one when nothing is found. */
const DROPPED_MAX = 12

function withoutOne(request: ListRequest): { request: ListRequest; facet: Facet | 'setup'; value: string }[] {
  const choices = FACETS.flatMap((facet) =>
    request.chosen[facet].map((value) => ({ request: withoutChoice(request, facet, value), facet, value })),
  )
  const waived = { request: { ...request, setup: NO_SETUP, isSetupWaived: true }, facet: 'setup' as const, value: '' }
  return [...(isSet(request.setup) ? [waived] : []), ...choices].slice(0, DROPPED_MAX)
}

const RECENT_VERSIONS = 12

/** The values of a kind: those of the taxonomy that belong to the type, and those that are chosen. */
function offered(taxonomy: Taxonomy, request: ListRequest, facet: Facet): string[] {
  const chosen = request.chosen[facet].map((value) => value.replace(/^-/, ''))
  return [...new Set([...known(taxonomy, request, facet), ...chosen])]
}

function known(taxonomy: Taxonomy, { type, all }: ListRequest, facet: Facet): readonly string[] {
  switch (facet) {
    case 'c':
      return taxonomy.categories
        .filter((row) => type === undefined || row.project_type === type)
        .map(({ name }) => name)
    case 'l':
      return [...taxonomy.loaders.values()]
        .filter((loader) => loader.project_types.includes(type === undefined || type === 'modpack' ? 'mod' : type))
        .map(({ name }) => name)
    case 'v':
      return releasesOf(taxonomy).slice(0, all.includes('v') ? undefined : RECENT_VERSIONS)
    default:
      return valuesOf(facet)
  }
}
