import { after, test } from 'node:test'
import { testSearchIndex } from '#test/conformance/search-index/suite.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import type { SearchIndex } from '../search-index.ts'
import { openOpenSearchIndex } from './opensearch-search-index.ts'

const engine = await startOpenSearch()
if (typeof engine === 'string') {
  test('OpenSearch', { skip: engine }, () => undefined)
} else {
  after(() => engine.stop())
  testSearchIndex('OpenSearch', async () => openEmpty(engine.url, engine.prefix()))
}

async function openEmpty(url: string, prefix: string): Promise<SearchIndex> {
  const index = openOpenSearchIndex({ url, prefix })
  await index.rebuild(async () => ({ sequence: 0, batches: nothing() }))
  return index
}

async function* nothing(): AsyncGenerator<never> {}
