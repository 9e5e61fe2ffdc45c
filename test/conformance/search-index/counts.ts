import assert from 'node:assert/strict'
import { MAX_COUNTED } from '#ports/search-index/search-index.ts'
import { sampleDocuments } from '#test/support/factories/search-catalogue.ts'
import { type Each, isSearchError, makeDocument, makeVersion, where } from './tools.ts'

/** Filters of every kind: of projects, of versions, of both, negated, and such as nothing fits. */
const FILTERS = [
  '',
  'project_categories = magic',
  'project_categories != magic',
  'loaders = drift',
  'loaders = drift AND game_versions = 1.2.1',
  'loaders = drift AND game_versions = 1.2.1 AND project_categories = magic',
  'loaders != drift',
  'open_source = true AND loaders IN [drift, cinder]',
  'downloads > 1000',
  'loaders = nothing',
]

export function testCounts(each: Each): void {
  each('counts are the totals of searches with each filter', async ({ index, ask, put }) => {
    await put(...sampleDocuments({ seed: 9, projects: 700, versions: 3, isSteady: false }))
    for (const text of ['', 'ba', 'no such words in here']) {
      const filters = FILTERS.map(where)
      const totals = []
      for (const filter of filters) totals.push((await ask({ text, filter })).total_hits)
      assert.deepEqual(await index.count({ text, filters }), totals, text)
    }
  })

  each('conditions on versions count where one version holds all of them', async ({ index, put }) => {
    const versions = [makeVersion('c1', { loaders: ['drift'], games: ['1.19'] })]
    const other = makeVersion('c2', { loaders: ['cinder'], games: ['1.20'] })
    await put(makeDocument('both', { versions: [...versions, other] }), makeDocument('none', { versions: [] }))
    const filters = ['loaders = drift AND game_versions = 1.19', 'loaders = drift AND game_versions = 1.20'].map(where)
    assert.deepEqual(await index.count({ text: '', filters }), [1, 0])
  })

  each('typos count where nothing is written exactly so', async ({ index, put }) => {
    await put(makeDocument('lantern', { name: 'Lantern' }))
    assert.deepEqual(await index.count({ text: 'lanttern', filters: [where('')] }), [1])
  })

  each('nothing asked is nothing counted, and too much is refused', async ({ index, put }) => {
    await put(makeDocument('one'))
    assert.deepEqual(await index.count({ text: '', filters: [] }), [])
    const filters = Array.from({ length: MAX_COUNTED + 1 }, () => where(''))
    await assert.rejects(index.count({ text: '', filters }), isSearchError)
  })
}
