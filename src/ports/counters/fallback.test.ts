import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MINUTE_MS } from '#lib/time.ts'
import { counterConformance } from '#test/conformance/counters.ts'
import type { Counters } from './counters.ts'
import { withFallback } from './fallback.ts'
import { createMemoryCounters } from './memory/memory-counters.ts'

const rate = { limit: 300, periodMs: MINUTE_MS, burst: 300 }

/** A store behind a connection that can be cut: calls then reject, or hang for ever. */
function cuttable(inner: Counters) {
  const link = { state: 'up' as 'up' | 'down' | 'hanging', calls: 0 }
  async function pass<T>(call: () => T | Promise<T>): Promise<T> {
    link.calls += 1
    if (link.state === 'down') throw new Error('connection refused')
    if (link.state === 'hanging') await new Promise(() => {})
    return call()
  }
  const counters: Counters = {
    take: (...args) => pass(() => inner.take(...args)),
    giveBack: (...args) => pass(() => inner.giveBack(...args)),
    spend: (...args) => pass(() => inner.spend(...args)),
    hit: (...args) => pass(() => inner.hit(...args)),
    giveBackHit: (...args) => pass(() => inner.giveBackHit(...args)),
    peek: (...args) => pass(() => inner.peek(...args)),
    reset: (...args) => pass(() => inner.reset(...args)),
    check: () => pass(() => inner.check()),
    close: () => inner.close(),
  }
  return { link, counters }
}

function setUp() {
  const clock = { ms: 1_000_000 }
  const now = () => clock.ms
  const events: string[] = []
  const { link, counters: primary } = cuttable(createMemoryCounters({ now }))
  const counters = withFallback(primary, createMemoryCounters({ now }), {
    now,
    onLost: (failure) => events.push(`lost: ${failure instanceof Error ? failure.message : failure}`),
    onBack: () => events.push('back'),
  })
  return { clock, link, counters, events }
}

counterConformance('a store that answers, with a fallback behind it', async (now) => {
  const refuse = () => assert.fail('not asked')
  const { counters } = cuttable(createMemoryCounters({ now }))
  return withFallback(counters, createMemoryCounters({ now }), { now, onLost: refuse, onBack: refuse })
})

test('uses only the store if the store responds', async () => {
  const { counters, events } = setUp()
  assert.equal((await counters.take('a', rate)).limit, 300)
  assert.equal((await counters.hit('a', { max: 3, windowMs: 1000 })).count, 1)
  assert.equal((await counters.peek('a', { max: 3, windowMs: 1000 })).count, 1)
  await counters.reset('a')
  assert.equal((await counters.peek('a', { max: 3, windowMs: 1000 })).count, 0)
  await counters.check()
  assert.deepEqual(events, [])
})

test('when the store is lost, 60 pass in the process and no call fails', async () => {
  const { counters, events, link } = setUp()
  link.state = 'down'
  const taken = []
  for (let i = 0; i < 100; i += 1) taken.push(await counters.take('a', rate))
  assert.equal(taken.filter(({ allowed }) => allowed).length, 60)
  assert.equal(taken[0]?.limit, 60)
  assert.equal((await counters.take('b', rate, 300)).allowed, true, 'a cost above the reduced burst takes all of it')
  assert.equal((await counters.take('c', { ...rate, lostPerMinute: 600 })).limit, 600, 'a rate may name its own')
  assert.equal((await counters.hit('a', { max: 1, windowMs: 1000 })).counted, true)
  assert.equal((await counters.hit('a', { max: 1, windowMs: 1000 })).counted, false)
  await assert.rejects(counters.check(), /connection refused/)
  assert.deepEqual(events, ['lost: connection refused'])
})

test('a lost store is left alone for a second, then tried by one call, and used again when it answers', async () => {
  const { counters, events, link, clock } = setUp()
  link.state = 'down'
  await counters.take('a', rate)
  assert.equal(link.calls, 1)
  await counters.take('a', rate)
  assert.equal(link.calls, 1)
  clock.ms += 1000
  await Promise.all([counters.take('a', rate), counters.take('a', rate), counters.take('a', rate)])
  assert.equal(link.calls, 2)
  link.state = 'up'
  clock.ms += 1000
  assert.equal((await counters.take('a', rate)).limit, 300)
  assert.equal((await counters.take('a', rate)).remaining, 298)
  assert.deepEqual(events, ['lost: connection refused', 'back'])
})

test('a store that hangs is given up on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { counters, events, link } = setUp()
  link.state = 'hanging'
  const waiting = Promise.resolve(counters.take('a', rate))
  await nextTurn()
  t.mock.timers.tick(500)
  assert.equal((await waiting).limit, 60)
  assert.deepEqual(events, ['lost: No response within 500 ms'])
})

test("a caller's own error is passed on and loses nothing", async () => {
  const { counters, events } = setUp()
  await assert.rejects(async () => counters.take('a', rate, 1000), RangeError)
  assert.equal((await counters.take('a', rate)).limit, 300)
  assert.deepEqual(events, [])
})
