import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'
import { createVisitorCaps } from './visitor-caps.ts'

test('past midnight, calls at the same moment count no more than what yesterday leaves', async () => {
  let clock = 20_000 * DAY_MS - 60_000
  const now = () => clock
  const caps = createVisitorCaps({ counters: createMemoryCounters({ now }), now, secret: new Uint8Array(32) })
  const hits = async (count: number) => {
    const counted = await Promise.all(Array.from({ length: count }, () => caps.countsDownload('192.0.2.1', 'Lantern1')))
    return counted.filter(Boolean).length
  }
  assert.equal(await hits(4), 4)
  clock += 120_000
  assert.equal(await hits(9), 2)
  // Yesterday's have passed, today's two have not.
  clock += 6 * HOUR_MS - 60_000
  assert.equal(await hits(9), 4)
  clock += DAY_MS
  assert.equal(await hits(9), 6)
})
