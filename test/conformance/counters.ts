// Conformance tests for every adapter of the counters port.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Rate } from '#lib/concurrency/rate.ts'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { type Counters, WINDOW_MAX } from '#ports/counters/counters.ts'

/** The service's own limit (specification, "Limits"). */
const RATE: Rate = { limit: 300, periodMs: MINUTE_MS, burst: 300 }
const START_MS = 1_750_000_000_000

/**
 * Registers the suite for one adapter. `make` returns counters that read the given clock; the suite closes them after
 * each test. Keys differ between tests, so all tests can share one store.
 */
export function counterConformance(adapter: string, make: (now: () => number) => Promise<Counters>): void {
  let serial = 0

  function guarantee(
    sentence: string,
    check: (counters: Counters, clock: { ms: number }, key: string) => Promise<void>,
  ) {
    test(`${adapter}: ${sentence}`, async () => {
      const clock = { ms: START_MS }
      const counters = await make(() => clock.ms)
      serial += 1
      try {
        await check(counters, clock, `conformance:${process.pid}:${serial}`)
      } finally {
        await counters.close()
      }
    })
  }

  guarantee('accepts exactly the burst and rejects the next request', async (counters, _clock, key) => {
    for (let left = 299; left >= 0; left -= 1) {
      const taken = await counters.take(key, RATE)
      const resetSeconds = Math.ceil((300 - left) / 5)
      assert.deepEqual(taken, { allowed: true, limit: 300, remaining: left, resetSeconds, retryAfterMs: 0 })
    }
    const refused = { allowed: false, limit: 300, remaining: 0, resetSeconds: 1, retryAfterMs: 200 }
    assert.deepEqual(await counters.take(key, RATE), refused)
    assert.deepEqual(await counters.take(key, RATE), refused)
  })

  guarantee('one more passes after each interval, and all after the period', async (counters, clock, key) => {
    await counters.take(key, RATE, 300)
    clock.ms += 199
    assert.deepEqual(await counters.take(key, RATE), {
      allowed: false,
      limit: 300,
      remaining: 0,
      resetSeconds: 1,
      retryAfterMs: 1,
    })
    clock.ms += 1
    assert.equal((await counters.take(key, RATE)).allowed, true)
    assert.equal((await counters.take(key, RATE)).allowed, false)
    clock.ms += 60_000
    assert.equal((await counters.take(key, RATE, 300)).allowed, true)
  })

  guarantee('a cost that does not fit takes nothing and tells how long it must wait', async (counters, _clock, key) => {
    await counters.take(key, RATE, 295)
    assert.deepEqual(await counters.take(key, RATE, 10), {
      allowed: false,
      limit: 300,
      remaining: 0,
      resetSeconds: 1,
      retryAfterMs: 1000,
    })
    assert.equal((await counters.take(key, RATE, 5)).remaining, 0)
  })

  guarantee('a cost of 0 tells what remains and takes nothing', async (counters, _clock, key) => {
    assert.equal((await counters.take(key, RATE, 0)).remaining, 300)
    await counters.take(key, RATE, 10)
    for (let n = 0; n < 3; n += 1) assert.equal((await counters.take(key, RATE, 0)).remaining, 290)
    await counters.take(key, RATE, 290)
    assert.equal((await counters.take(key, RATE, 0)).remaining, 0)
    assert.equal((await counters.take(key, RATE)).allowed, false)
  })

  guarantee('what is given back can be taken again, and never more than the burst', async (counters, clock, key) => {
    await counters.take(key, RATE, 300)
    await counters.giveBack(key, RATE, 2)
    assert.equal((await counters.take(key, RATE)).remaining, 1)
    clock.ms += 60_000
    await counters.giveBack(key, RATE, 300)
    await counters.giveBack(`${key}x`, RATE)
    for (const each of [key, `${key}x`]) assert.equal((await counters.take(each, RATE)).remaining, 299)
    await assert.rejects(async () => counters.giveBack(key, RATE, -1), RangeError)
  })

  guarantee('keys do not touch each other, and neither do rates and windows of one key', async (counters, _c, key) => {
    await counters.take(key, RATE, 300)
    assert.equal((await counters.take(`${key}x`, RATE)).remaining, 299)
    assert.equal((await counters.hit(key, { max: 1, windowMs: 1000 })).counted, true)
    assert.equal((await counters.hit(`${key}x`, { max: 1, windowMs: 1000 })).counted, true)
  })

  guarantee('parallel calls are each counted', async (counters, _clock, key) => {
    const window = { max: 10, windowMs: 1000 }
    const taken = await Promise.all(Array.from({ length: 320 }, () => counters.take(key, RATE)))
    const hits = await Promise.all(Array.from({ length: 30 }, () => counters.hit(key, window)))
    assert.equal(taken.filter(({ allowed }) => allowed).length, 300)
    assert.equal(hits.filter(({ counted }) => counted).length, 10)
  })

  guarantee('a hit counts up to the maximum that it names itself', async (counters, _clock, key) => {
    const hit = async (max: number) => (await counters.hit(key, { max, windowMs: 1000 })).counted
    assert.deepEqual(
      [await hit(1), await hit(1), await hit(3), await hit(2), await hit(3)],
      [true, false, true, false, true],
    )
  })

  guarantee('a window counts to its maximum and again when the oldest hit has passed', async (counters, clock, key) => {
    const window = { max: 2, windowMs: 1000 }
    assert.deepEqual(await counters.peek(key, window), { count: 0, retryAfterMs: 0 })
    assert.deepEqual(await counters.hit(key, window), { counted: true, count: 1, retryAfterMs: 0 })
    clock.ms += 400
    assert.deepEqual(await counters.hit(key, window), { counted: true, count: 2, retryAfterMs: 600 })
    clock.ms += 599
    assert.deepEqual(await counters.hit(key, window), { counted: false, count: 2, retryAfterMs: 1 })
    assert.deepEqual(await counters.peek(key, window), { count: 2, retryAfterMs: 1 })
    clock.ms += 1
    assert.deepEqual(await counters.peek(key, window), { count: 1, retryAfterMs: 0 })
    assert.deepEqual(await counters.hit(key, window), { counted: true, count: 2, retryAfterMs: 400 })
  })

  guarantee('a hit that is given back has its place again, the newest first', async (counters, clock, key) => {
    const window = { max: 2, windowMs: 1000 }
    await counters.giveBackHit(key, window)
    await counters.hit(key, window)
    clock.ms += 400
    await counters.hit(key, window)
    await counters.giveBackHit(key, window)
    assert.deepEqual(await counters.peek(key, window), { count: 1, retryAfterMs: 0 })
    assert.deepEqual(await counters.hit(key, window), { counted: true, count: 2, retryAfterMs: 600 })
    clock.ms += 700
    // The first has passed by itself: only the second is there to be given back.
    await counters.giveBackHit(key, window)
    await counters.giveBackHit(key, window)
    assert.equal((await counters.peek(key, window)).count, 0)
    await assert.rejects(async () => counters.giveBackHit(key, { max: 0, windowMs: 1000 }), RangeError)
  })

  guarantee('counts at most the maximum of parallel hits that are refunded', async (counters, _c, key) => {
    const window = { max: 3, windowMs: 1000 }
    let atOnce = 0
    let most = 0
    const use = async () => {
      if (!(await counters.hit(key, window)).counted) return false
      atOnce += 1
      most = Math.max(most, atOnce)
      await counters.peek(key, window)
      atOnce -= 1
      await counters.giveBackHit(key, window)
      return true
    }
    const used = await Promise.all(Array.from({ length: 40 }, use))
    assert.ok(used.filter(Boolean).length >= 3)
    assert.ok(most <= 3)
    assert.equal((await counters.peek(key, window)).count, 0)
  })

  guarantee(
    'an allowance gives what is left of it, and a new one begins when its span is over',
    async (counters, clock, key) => {
      const allowance = { max: 14_400, spanMs: HOUR_MS }
      assert.equal(await counters.spend(key, 0, allowance), 0)
      assert.equal(await counters.spend(key, 14_000, allowance), 14_000)
      clock.ms += 3_599_999
      assert.equal(await counters.spend(key, 500, allowance), 400)
      assert.equal(await counters.spend(key, 1, allowance), 0)
      assert.equal(await counters.spend(`${key}x`, 20_000, allowance), 14_400)
      clock.ms += 1
      assert.equal(await counters.spend(key, 14_401, allowance), 14_400)
      for (const [amount, max, spanMs] of [
        [-1, 1, 1],
        [0.5, 1, 1],
        [1, 0, 1],
        [1, 1, 0],
      ] as const)
        await assert.rejects(async () => counters.spend(key, amount, { max, spanMs }), RangeError)
    },
  )

  guarantee('parallel spending never gives more than there is', async (counters, _clock, key) => {
    const spend = () => counters.spend(key, 7, { max: 100, spanMs: 1000 })
    const granted = await Promise.all(Array.from({ length: 30 }, spend))
    assert.equal(
      granted.reduce((sum, part) => sum + part, 0),
      100,
    )
  })

  guarantee('a reset forgets the hits of its key and of no other', async (counters, _clock, key) => {
    const window = { max: 1, windowMs: 1000 }
    await counters.hit(key, window)
    await counters.hit(`${key}x`, window)
    await counters.reset(key)
    await counters.reset(`${key} that was never seen`)
    assert.equal((await counters.peek(key, window)).count, 0)
    assert.equal((await counters.peek(`${key}x`, window)).count, 1)
  })

  guarantee('a clock that is set back does not lock anybody out', async (counters, clock, key) => {
    const window = { max: 1, windowMs: 1000 }
    await counters.take(key, RATE, 300)
    await counters.hit(key, window)
    clock.ms -= HOUR_MS
    assert.ok((await counters.take(key, RATE)).retryAfterMs <= 200)
    assert.ok((await counters.peek(key, window)).retryAfterMs <= 1000)
    clock.ms += 1000
    assert.equal((await counters.take(key, RATE)).allowed, true)
    assert.equal((await counters.hit(key, window)).counted, true)
  })

  guarantee('numbers that make no sense are refused', async (counters, _clock, key) => {
    const rates: [Rate, number][] = [
      [RATE, 301],
      [RATE, -1],
      [RATE, 0.5],
      [{ ...RATE, limit: 0 }, 1],
      [{ ...RATE, burst: 0 }, 1],
      [{ ...RATE, periodMs: 0 }, 1],
      [{ ...RATE, periodMs: Number.NaN }, 1],
      [{ ...RATE, periodMs: 1e12 }, 1],
    ]
    for (const [rate, cost] of rates) await assert.rejects(async () => counters.take(key, rate, cost), RangeError)
    for (const [max, windowMs] of [
      [0, 1000],
      [1.5, 1000],
      [WINDOW_MAX + 1, 1000],
      [1, 0],
      [1, 1e12],
    ] as const)
      await assert.rejects(async () => counters.hit(key, { max, windowMs }), RangeError)
  })

  guarantee(
    'the limiter agrees with a bucket that is emptied millisecond by millisecond',
    async (counters, clock, key) => {
      const steps = fc.array(fc.record({ waitMs: fc.nat(60), cost: fc.integer({ min: 1, max: 4 }) }), { maxLength: 30 })
      // Ten milliseconds win one unit back.
      const rates = fc.integer({ min: 4, max: 12 }).map((burst) => ({ limit: 5, periodMs: 50, burst }))
      let run = 0
      await fc.assert(
        fc.asyncProperty(rates, steps, async (rate, taken) => {
          run += 1
          let levelMs = 0
          for (const { waitMs, cost } of taken) {
            clock.ms += waitMs
            for (let i = 0; i < waitMs && levelMs > 0; i += 1) levelMs -= 1
            const fits = levelMs + cost * 10 <= rate.burst * 10
            if (fits) levelMs += cost * 10
            const { allowed, remaining, retryAfterMs } = await counters.take(`${key}:${run}`, rate, cost)
            assert.equal(allowed, fits)
            if (fits) assert.equal(remaining, Math.floor(rate.burst - levelMs / 10))
            else assert.equal(retryAfterMs, levelMs + cost * 10 - rate.burst * 10)
          }
        }),
      )
    },
  )

  guarantee('a window agrees with a list of all hits that is never shortened', async (counters, clock, key) => {
    const waits = fc.array(fc.nat(700), { maxLength: 40 })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), waits, async (max, waitsMs) => {
        run += 1
        const window = { max, windowMs: 1000 }
        const counted: number[] = []
        for (const waitMs of waitsMs) {
          clock.ms += waitMs
          const before = counted.filter((at) => clock.ms - at < 1000).length
          const hit = await counters.hit(`${key}:${run}`, window)
          assert.equal(hit.counted, before < max)
          if (hit.counted) counted.push(clock.ms)
          assert.equal(hit.count, counted.filter((at) => clock.ms - at < 1000).length)
        }
      }),
    )
  })

  guarantee('a store that answers passes its check', async (counters) => {
    await counters.check()
  })
}
