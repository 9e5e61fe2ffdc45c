import assert from 'node:assert/strict'
import { test } from 'node:test'
import { where } from '#test/conformance/search-index/tools.ts'
import { DocTable } from '../parts/doc-table.ts'
import { FacetIndex } from '../parts/facet-index.ts'
import { FilterCache, ParsedFilters } from './filter-cache.ts'
import { makePlan } from './plan.ts'

const keyOf = (written: string) => JSON.stringify(where(written))
const LONG = keyOf(`name="${'x'.repeat(60_000)}"`)

test('parsed filters are cached up to a number, except long ones', () => {
  const parsed = new ParsedFilters()
  const key = keyOf('loaders=drift')
  assert.equal(parsed.read(key), parsed.read(key))
  assert.deepEqual(parsed.read(LONG), JSON.parse(LONG))
  assert.equal(parsed.size, 1)
  for (let i = 0; i < 5000; i += 1) parsed.read(keyOf(`loaders=x${i}`))
  assert.ok(parsed.size <= 1024)
})

test('the documents of a long filter are not cached', () => {
  const cache = new FilterCache(8)
  const sources = { docs: new DocTable(), facets: new FacetIndex() }
  for (const key of [keyOf('loaders=drift'), LONG]) {
    cache.put(key, new Uint32Array(1), sources)
    const isCached = cache.find(key, makePlan(JSON.parse(key), sources), sources) !== undefined
    assert.equal(isCached, key !== LONG)
  }
})
