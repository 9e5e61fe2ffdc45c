// `depot move search`: builds another index from the database, and compares what both answer.

import { parseSearchRequest, type SearchRequest } from '#features/operations/search/requests.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { SearchFeed } from '#ports/search-index/feed/search-feed.ts'
import { SORTS } from '#ports/search-index/search-index.ts'

export type MoveSearchReport = { documents: number; queries: number }
export type MoveSearchStep = 'building' | 'comparing'

type Side = Pick<SearchFeed, 'caughtUp' | 'search' | 'state'>
type OnProgress = (step: MoveSearchStep, done: number, total?: number) => void

/** Hits that sample searches are made of: so many pages, evenly over the catalogue. */
const SAMPLE_PAGES = 5
const SAMPLE_LIMIT = 10
/** What changes between two questions makes answers differ; then both are asked again. */
const TRIES = 5

/**
 * Builds the target where it is not there yet, brings it up to date, and asks it what it asks an index in memory that is
 * built from the same database. It may run beside a server: the index that one uses is left alone.
 * @throws OperatorError when the numbers of projects or the answers of a sample search differ; what a build throws.
 */
export async function moveSearch(
  { target, scratch }: { target: Side; scratch: Side },
  { onProgress = () => {} }: { onProgress?: OnProgress } = {},
): Promise<MoveSearchReport> {
  await target.caughtUp()
  await scratch.caughtUp()
  const documents = await same({ target, scratch }, 'numbers of projects', async (side) =>
    String((await side.state()).documents),
  )
  const samples = await sampleSearches(scratch)
  for (const [done, request] of samples.entries()) {
    onProgress('comparing', done, samples.length)
    const query = parseSearchRequest(request)
    await same({ target, scratch }, `answers to ${JSON.stringify(request)}`, async (side) =>
      Buffer.from((await side.search(query)).body).toString(),
    )
  }
  return { documents: Number(documents), queries: samples.length }
}

async function same(
  { target, scratch }: { target: Side; scratch: Side },
  what: string,
  ask: (side: Side) => Promise<string>,
): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const [answer, expected] = await Promise.all([ask(target), ask(scratch)])
    if (answer === expected) return answer
    if (tries === TRIES) {
      throw new OperatorError(
        `The ${what} differ between the new index and one in memory. Build it again with \`depot reindex\` under the new settings, and run this again`,
      )
    }
    await Promise.all([target.caughtUp(), scratch.caughtUp()])
  }
}

type Hit = { name: string; author: string | null; project_types: string[]; categories: string[] }

/** Searches in each order and at each depth, by name, by the first letters, by author, and by what hits are filed under. */
async function sampleSearches(side: Side): Promise<SearchRequest[]> {
  const { totalHits } = await side.search(parseSearchRequest({ limit: 1 }))
  const samples: SearchRequest[] = []
  const hits: Hit[] = []
  for (let page = 0; page < SAMPLE_PAGES; page += 1) {
    const offset = Math.floor((totalHits * page) / SAMPLE_PAGES)
    for (const index of SORTS) samples.push({ index, offset, limit: SAMPLE_LIMIT })
    const { body } = await side.search(parseSearchRequest({ index: 'newest', offset, limit: SAMPLE_LIMIT }))
    hits.push(...JSON.parse(Buffer.from(body).toString()).hits)
  }
  for (const { name, author, project_types, categories } of hits) {
    const facets = [
      ...project_types.map((type) => `project_types:${type}`),
      ...categories.map((c) => `categories:${c}`),
    ]
    samples.push({ query: name }, { query: name.slice(0, 3) }, { query: author ?? '', index: 'downloads' })
    samples.push({ facets: [facets] }, { query: name.slice(0, 2), facets: facets.map((facet) => [facet]) })
  }
  const seen = new Set<string>()
  return samples.filter((request) => {
    const text = JSON.stringify(request)
    return !seen.has(text) && seen.add(text)
  })
}
