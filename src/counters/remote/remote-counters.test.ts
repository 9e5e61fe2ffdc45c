import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '#lib/time.ts'
import { counterConformance } from '#test/conformance/counters.ts'
import { channelPair } from '#test/support/channel-pair.ts'
import { createMemoryCounters } from '../memory/memory-counters.ts'
import { remoteCounters, serveCounters } from './remote-counters.ts'

counterConformance('counters of another process', async (now) => {
  const { near, close } = await channelPair(serveCounters(createMemoryCounters({ now })))
  return { ...remoteCounters(near), close }
})

test('two processes share a limit, also when both ask at once', async (t) => {
  const counters = createMemoryCounters({ now: () => 0 })
  const pairs = await Promise.all([1, 2].map(() => channelPair(serveCounters(counters))))
  t.after(() => Promise.all(pairs.map(({ close }) => close())))
  const rate = { limit: 100, periodMs: MINUTE_MS, burst: 100 }
  const taken = await Promise.all(
    pairs.flatMap(({ near }) => Array.from({ length: 80 }, () => remoteCounters(near).take('shared', rate))),
  )
  assert.equal(taken.filter(({ allowed }) => allowed).length, 100)
})
