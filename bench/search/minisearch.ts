// The catalogue in MiniSearch, in this process.
import MiniSearch from 'minisearch'
import { seconds, type Times, time } from '../kit/timing.ts'
import { batches, flat, type MiniQuery, type Query } from './queries.ts'

/** Its medians are far above their noise. */
const RUNS = 7

export async function benchMiniSearch(
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Promise<Map<string, Times>> {
  const mini = new MiniSearch({
    fields: ['name', 'slug', 'author', 'summary'],
    storeFields: ['categories', 'loaders', 'types', 'downloads', 'created'],
    searchOptions: { prefix: true, combineWith: 'AND', boost: { name: 15, slug: 10, author: 3 } },
  })
  const start = performance.now()
  for (const documents of batches(projects, 2000)) mini.addAll(documents.map(flat))
  print(`MiniSearch: build ${seconds(performance.now() - start)} with the making of the documents`)
  const times = new Map<string, Times>()
  for (const { name, mini: query } of queries) times.set(name, await time(RUNS, () => ask(mini, query)))
  return times
}

function ask(mini: MiniSearch, query: MiniQuery): number {
  const results = mini.search(query.text, {
    ...(query.keep === undefined ? {} : { filter: query.keep }),
    ...(query.fuzzy === undefined ? {} : { fuzzy: query.fuzzy }),
  })
  if (query.sort !== undefined) results.sort((a, b) => b['created'] - a['created'])
  return results.slice(query.offset ?? 0, (query.offset ?? 0) + 10).length
}
