// The conformance suite of the search port. The test of each adapter runs it.
import { test } from 'node:test'
import type { SearchIndex } from '#ports/search-index/search-index.ts'
import { testChanges, testRebuild } from './changes.ts'
import { testCounts } from './counts.ts'
import { testFilters } from './filters.ts'
import { testHits } from './hits.ts'
import { testText } from './text.ts'
import { type Tools, toolsFor } from './tools.ts'

/** Runs the suite; `open` gives a new, empty index each time. */
export function testSearchIndex(name: string, open: () => Promise<SearchIndex>): void {
  const each = (sentence: string, run: (tools: Tools) => Promise<void>) =>
    test(`${name}: ${sentence}`, async () => {
      const index = await open()
      try {
        await run(toolsFor(index))
      } finally {
        await index.close()
      }
    })
  testHits(each)
  testFilters(each)
  testCounts(each)
  testText(each)
  testChanges(each)
  testRebuild(each)
}
