import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { counterConformance } from '#test/conformance/counters.ts'
import { createMemoryCounters } from './memory-counters.ts'

counterConformance('memory', async (now) => createMemoryCounters({ now }))

const minute = { limit: 10, periodMs: MINUTE_MS, burst: 10 }
const window = { max: 3, windowMs: MINUTE_MS }

test('results are synchronous, without a promise', () => {
  const counters = createMemoryCounters({ now: () => 0 })
  for (const answer of [
    counters.take('a', minute),
    counters.hit('a', window),
    counters.peek('a', window),
    counters.reset('a'),
  ])
    assert.ok(!(answer instanceof Promise))
})

test('a rate with a fractional interval lets exactly its burst pass', () => {
  for (const limit of [7, 11, 13, 299, 301, 997]) {
    const counters = createMemoryCounters({ now: () => 1_750_000_000_123.456 })
    const rate = { limit, periodMs: MINUTE_MS, burst: limit }
    const allowed = Array.from({ length: limit + 5 }, () => counters.take('a', rate)).filter(
      (taken) => !(taken instanceof Promise) && taken.allowed,
    )
    assert.equal(allowed.length, limit)
  }
})

test('at the limit, forgets the least recently used keys', async () => {
  const counters = createMemoryCounters({ now: () => 0, keysMax: 100 })
  await counters.take('idle', minute, 10)
  for (let i = 0; i < 1000; i += 1) {
    await counters.take(`flood ${i}`, minute)
    // A rejected call counts as use too, so that frequent calls do not escape the limit.
    if (i === 0) await counters.take('busy', minute, 10)
    else assert.equal((await counters.take('busy', minute)).allowed, false)
  }
  assert.equal((await counters.take('idle', minute)).remaining, 9)
})

test('a flood of keys of one time span cannot push out those of another', async () => {
  const counters = createMemoryCounters({ now: () => 0, keysMax: 10 })
  const throttle = { max: 10, windowMs: 15 * MINUTE_MS }
  await counters.hit('account', throttle)
  for (let i = 0; i < 1000; i += 1) await counters.hit(`download ${i}`, { max: 6, windowMs: 6 * HOUR_MS })
  assert.equal((await counters.peek('account', throttle)).count, 1)
})

test('a count that is still running survives any number of visits by others in between', async () => {
  const clock = { ms: 0 }
  const counters = createMemoryCounters({ now: () => clock.ms })
  await counters.hit('account', window)
  for (; clock.ms < 59_999; clock.ms += 1) await counters.hit(`other ${clock.ms % 50}`, window)
  assert.equal((await counters.peek('account', window)).count, 1)
  clock.ms += 1
  assert.equal((await counters.peek('account', window)).count, 0)
})
