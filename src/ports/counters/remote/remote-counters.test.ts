import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '#lib/time.ts'
import { counterConformance } from '#test/conformance/counters.ts'
import { channelPair } from '#test/support/stand-ins/channel-pair.ts'
import { createMemoryCounters } from '../memory/memory-counters.ts'
import { remoteCounters, serveCounters } from './remote-counters.ts'

counterConformance('counters of another process', async (now) => {
  const { near, close } = await channelPair(serveCounters(createMemoryCounters({ now })))
  return { ...remoteCounters(near, { now, processes: 2 }), close }
})

test('processes share a limit within an eighth, also under concurrent requests', async (t) => {
  const now = () => 0
  const holder = createMemoryCounters({ now })
  const pairs = await Promise.all([1, 2, 3].map(() => channelPair(serveCounters(holder))))
  t.after(() => Promise.all(pairs.map(({ close }) => close())))
  const all = pairs.map(({ near }) => remoteCounters(near, { now, processes: pairs.length }))
  const rate = { limit: 100, periodMs: MINUTE_MS, burst: 100 }
  const taken = await Promise.all(
    all.flatMap((counters) => Array.from({ length: 80 }, () => counters.take('shared', rate))),
  )
  const allowed = taken.filter((each) => each.allowed).length
  assert.ok(allowed >= 100 && allowed <= 112, `${allowed} of 100 were allowed`)
  for (const counters of all) assert.equal((await counters.take('shared', rate)).allowed, false)
})

test('notifies the other process only of frequently used keys', async (t) => {
  const clock = { ms: 0 }
  const now = () => clock.ms
  const holder = createMemoryCounters({ now })
  let messages = 0
  const handlers = Object.entries(serveCounters(holder)).map(([name, handle]) => [
    name,
    (...args: Parameters<typeof handle>) => {
      messages += 1
      return handle(...args)
    },
  ])
  const { near, close } = await channelPair(Object.fromEntries(handlers))
  t.after(close)
  const counters = remoteCounters(near, { now, processes: 2 })
  const rate = { limit: 300, periodMs: MINUTE_MS, burst: 300 }
  // Takes longer than the lifetime of a cached key, and uses more keys than the cache can contain.
  for (let n = 0; n < 120_000; n += 1) {
    clock.ms = n
    assert.ok(!(counters.take(`client ${n}`, rate) instanceof Promise))
  }
  for (let n = 0; n < 4; n += 1) {
    assert.ok(!(counters.take('client of a launcher', rate) instanceof Promise))
    assert.ok(!(counters.giveBack('client of a launcher', rate) instanceof Promise))
  }
  // The response to a query arrives after all earlier messages were processed.
  await counters.peek('other', { max: 1, windowMs: 1 })
  assert.equal(messages, 1)
  for (let n = 0; n < 8; n += 1) assert.ok(!(counters.take('busy client', rate) instanceof Promise))
  assert.equal((await counters.take('busy client', rate)).remaining, 291)
  const seen = holder.take('busy client', rate)
  assert.ok(!(seen instanceof Promise) && seen.remaining === 290)
})

test('other processes learn of locally granted requests after a report', async (t) => {
  const now = () => 0
  const holder = createMemoryCounters({ now })
  const [one, other] = await Promise.all([1, 2].map(() => channelPair(serveCounters(holder))))
  assert.ok(one !== undefined && other !== undefined)
  t.after(() => Promise.all([one.close(), other.close()]))
  const rate = { limit: 100, periodMs: MINUTE_MS, burst: 100 }
  const first = remoteCounters(one.near, { now, processes: 2 })
  const second = remoteCounters(other.near, { now, processes: 2 })
  for (let n = 0; n < 4; n += 1) assert.ok(!(first.take('k', rate) instanceof Promise))
  await first.close()
  // More than the process can grant without a query.
  assert.equal((await second.take('k', rate, 10)).remaining, 86)
})
