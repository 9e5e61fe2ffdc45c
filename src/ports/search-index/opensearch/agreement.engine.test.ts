// OpenSearch returns the same results as the plain rules, and the same bytes as the embedded index, for random
// catalogues and queries.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { makeDocument } from '#test/conformance/search-index/tools.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import { randomQuery } from '#test/support/factories/random-search-queries.ts'
import { sampleDocuments, sampleWords, seededRandom } from '#test/support/factories/search-catalogue.ts'
import { naiveSearch } from '#test/support/stand-ins/reference-search.ts'
import type { SearchDocument } from '../document.ts'
import { openEmbeddedSearchIndex } from '../embedded/embedded-search-index.ts'
import { EVERYTHING } from '../filter/tree.ts'
import type { SearchIndex, SearchQuery } from '../search-index.ts'
import { openOpenSearchIndex } from './opensearch-search-index.ts'

// FUZZ_RUNS=10000 makes it long; FUZZ_SEED repeats a failure.
const { FUZZ_RUNS = '300', FUZZ_SEED = '1' } = process.env
const seed = Number(FUZZ_SEED)

const engine = await startOpenSearch()
const skip = typeof engine === 'string' ? engine : false
after(() => (typeof engine === 'string' ? undefined : engine.stop()))

/** Both engines with the same documents. */
async function openBoth(
  t: { after(callback: () => Promise<void>): void },
  documents: readonly SearchDocument[],
): Promise<{ remote: SearchIndex; embedded: SearchIndex }> {
  assert.ok(typeof engine !== 'string')
  const remote = openOpenSearchIndex({ url: engine.url, prefix: engine.prefix() })
  const embedded = await openEmbeddedSearchIndex()
  t.after(async () => void (await Promise.all([remote.close(), embedded.close()])))
  await Promise.all(
    [remote, embedded].map((index) => index.rebuild(async () => ({ sequence: 1, batches: batchesOf(documents) }))),
  )
  return { remote, embedded }
}

async function* batchesOf(documents: readonly SearchDocument[]): AsyncGenerator<SearchDocument[]> {
  for (let i = 0; i < documents.length; i += 200) yield documents.slice(i, i + 200)
}

async function find(index: SearchIndex, query: SearchQuery) {
  const { body, totalHits } = await index.search(query)
  const { hits } = JSON.parse(Buffer.from(body).toString()) as { hits: { project_id: string; version_id: string }[] }
  return { hits: hits.map(({ project_id, version_id }) => ({ project_id, version_id })), total: totalHits }
}

test('random filters, orders and texts are answered as the rules say', { skip }, async (t) => {
  const random = seededRandom(seed)
  const words = sampleWords(seed)
  const documents = [...sampleDocuments({ seed, projects: 400, versions: 4, isSteady: false })]
  const { remote, embedded } = await openBoth(t, documents)
  let withHits = 0
  for (let i = 0; i < Number(FUZZ_RUNS); i += 1) {
    const query = randomQuery(random, words, i % 3 === 0 ? 400 : 20)
    const found = await find(remote, query)
    assert.deepEqual(found, naiveSearch(documents, query), JSON.stringify(query))
    withHits += Math.sign(found.hits.length)
    if (i % 5 > 0) continue
    const [one, other] = await Promise.all([remote.search(query), embedded.search(query)])
    assert.equal(Buffer.from(one.body).toString(), Buffer.from(other.body).toString(), JSON.stringify(query))
  }
  assert.ok(withHits > Number(FUZZ_RUNS) / 4, `only ${withHits} queries found anything`)
})

test('the wanted projects come in the same order as from the embedded index', { skip }, async (t) => {
  type Row = [slug: string, name: string, summary: string, author: string, downloads: number]
  const fixture = async (name: string) =>
    JSON.parse(await readFile(new URL(`../../../../test/api/relevance/fixtures/${name}.json`, import.meta.url), 'utf8'))
  const rows: Row[] = await fixture('catalogue')
  const queries: [text: string, wanted: string][] = await fixture('queries')
  const documents = rows.map(([slug, name, summary, author, downloads], i) =>
    makeDocument(slug, { id: i.toString(36).padStart(8, '0'), name, summary, author, downloads }),
  )
  const { remote, embedded } = await openBoth(t, documents)
  for (const [text] of queries) {
    const query: SearchQuery = { text, filter: EVERYTHING, sort: 'relevance', offset: 0, limit: 20 }
    assert.deepEqual(await find(remote, query), await find(embedded, query), text)
  }
})
