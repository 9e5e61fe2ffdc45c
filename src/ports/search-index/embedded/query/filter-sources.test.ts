import assert from 'node:assert/strict'
import { test } from 'node:test'
import { where } from '#test/conformance/search-index/tools.ts'
import { DocTable } from '../parts/doc-table.ts'
import { FacetIndex } from '../parts/facet-index.ts'
import { FilterMemory } from './filter-cache.ts'
import { KnownFilters } from './filter-sources.ts'
import { makePlan } from './plan.ts'

const keyOf = (written: string) => JSON.stringify(where(written))
const LONG = keyOf(`name="${'x'.repeat(60_000)}"`)

test('filters are kept as objects, a bounded number of them, and none that is long', () => {
  const known = new KnownFilters()
  const key = keyOf('loaders=drift')
  assert.equal(known.read(key), known.read(key))
  assert.deepEqual(known.read(LONG), JSON.parse(LONG))
  assert.equal(known.size, 1)
  for (let i = 0; i < 5000; i += 1) known.read(keyOf(`loaders=x${i}`))
  assert.ok(known.size <= 1024)
})

test('the documents of a long filter are not remembered', () => {
  const memory = new FilterMemory(8)
  const sources = { docs: new DocTable(), facets: new FacetIndex() }
  for (const key of [keyOf('loaders=drift'), LONG]) {
    memory.put(key, new Uint32Array(1), sources)
    const isRemembered = memory.find(key, makePlan(JSON.parse(key), sources), sources) !== undefined
    assert.equal(isRemembered, key !== LONG)
  }
})
