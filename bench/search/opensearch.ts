// Sends the same queries to the embedded index and to OpenSearch, each through its port, on the same catalogue. Uses
// the engine at TEST_OPENSEARCH_URL, or starts one with scripts/engines/opensearch.sh. node bench/search/opensearch.ts
// [--projects 20000]
import { parseArgs } from 'node:util'
import { parseSearchRequest } from '#features/operations/search/requests.ts'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import { openOpenSearchIndex } from '#ports/search-index/opensearch/opensearch-search-index.ts'
import type { SearchIndex } from '#ports/search-index/search-index.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import { sampleDocuments } from '#test/support/factories/search-catalogue.ts'
import { once, seconds, show, type Times, time } from '../kit/timing.ts'
import { batches, mixedQueries, SEED, VERSIONS } from './queries.ts'

const RUNS = 100

const { values: flags } = parseArgs({ options: { projects: { type: 'string', default: '20000' } } })
const engine = await startOpenSearch()
if (typeof engine === 'string') console.log(`OpenSearch is left out: ${engine}`)
else {
  try {
    await compare(engine.url, engine.prefix(), Number(flags.projects))
  } finally {
    await engine.stop()
  }
}

async function compare(url: string, prefix: string, projects: number): Promise<void> {
  console.log(`search: ${projects} projects, ${VERSIONS} versions each, times in ms`)
  const embedded = await openEmbeddedSearchIndex()
  const remote = openOpenSearchIndex({ url, prefix })
  try {
    const own = await measure('embedded', embedded, projects)
    const other = await measure('OpenSearch', remote, projects)
    console.log('query              embedded p50   p99   OpenSearch p50    p99')
    for (const [name, times] of own) {
      const theirs = other.get(name) ?? { p50: 0, p99: 0 }
      console.log(
        `${name.padEnd(18)}${times.p50.toFixed(2).padStart(10)}${times.p99.toFixed(1).padStart(8)}` +
          `${theirs.p50.toFixed(2).padStart(14)}${theirs.p99.toFixed(1).padStart(9)}`,
      )
    }
  } finally {
    await Promise.all([embedded.close(), remote.close()])
  }
}

async function measure(name: string, index: SearchIndex, projects: number): Promise<Map<string, Times>> {
  const source = async function* () {
    yield* batches(projects, 500)
  }
  const buildMs = await once(() => index.rebuild(async () => ({ sequence: 1, batches: source() })))
  console.log(`${name}: build with the making of the documents ${seconds(buildMs)}`)
  const times = new Map<string, Times>()
  for (const { name: query, request } of mixedQueries()) {
    const asked = parseSearchRequest(request)
    // Beyond the end of a small catalogue there would be nothing to skip.
    const offset = Math.min(asked.offset, Math.floor(projects * 0.9))
    times.set(query, await time(RUNS, () => index.search({ ...asked, offset })))
  }
  const sample = [...sampleDocuments({ seed: SEED + 7, projects: RUNS, versions: VERSIONS, isSteady: true })]
  let sequence = 2
  const update = await time(RUNS, (i) => {
    sequence += 1
    const document = sample[i]
    return document === undefined ? undefined : index.apply([{ kind: 'upsert', sequence, document }])
  })
  console.log(`${name}: a change of one project until it is found ${show(update)}`)
  return times
}
