// Computed values: one load per key, the maximum age, and the limit in bytes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import { MIB } from '#lib/text/sizes.ts'
import { createEntityCache } from './entity-cache.ts'
import type { RememberDefinition } from './remembered.ts'

const COUNT: RememberDefinition<number> = { name: 'counts', contains: 'Counts', maxAgeMs: 60_000, maxBytes: 4 * MIB }
const TRENDING: RememberDefinition<readonly string[]> = {
  name: 'lists',
  contains: 'Lists',
  maxAgeMs: 3_600_000,
  maxBytes: MIB,
  isStaleAllowed: true,
}

function open(maxBytes = 10_000_000) {
  const clock = { now: 0 }
  return { clock, cache: createEntityCache({ maxBytes, now: () => clock.now }) }
}

test('concurrent calls share one load, and later calls its value until it expires', async () => {
  const { clock, cache } = open()
  let loads = 0
  const get = () => cache.remember(COUNT).get('project', async () => ++loads)
  assert.deepEqual(await Promise.all([get(), get()]), [1, 1])
  clock.now = 60_000
  assert.equal(await get(), 1)
  clock.now = 60_001
  assert.equal(await get(), 2)
  assert.deepEqual(cache.stats().kinds['counts'], {
    entries: 1,
    hits: 1,
    misses: 3,
    loads: 2,
    evicted: 0,
    overtaken: 0,
    oversized: 0,
  })
})

test('a failed load reaches its callers and is not cached', async () => {
  const { cache } = open()
  const counts = cache.remember(COUNT)
  await assert.rejects(
    counts.get('project', () => Promise.reject(new Error('no database'))),
    /no database/,
  )
  assert.equal(await counts.get('project', async () => 3), 3)
})

test('where stale values are allowed, callers get the expired value while a new one is loaded', async () => {
  const { clock, cache } = open()
  const trending = cache.remember(TRENDING)
  trending.store('all', ['a'])
  clock.now = 3_600_001
  assert.equal(trending.peek('all'), undefined)
  assert.deepEqual(await trending.get('all', () => Promise.reject(new Error('no database'))), ['a'])
  await settled()
  assert.deepEqual(await trending.get('all', async () => ['b']), ['a'])
  await settled()
  assert.deepEqual(await trending.get('all', async () => ['c']), ['b'])
})

test('values stay within the limit of their cache and of the whole cache; changes do not remove them', async () => {
  const { cache } = open()
  const counts = cache.remember(COUNT)
  for (let i = 0; i < 20_000; i++) counts.store(`project ${i}`, i)
  const { entries = 0, evicted } = cache.stats().kinds['counts'] ?? {}
  assert.equal(entries, 20_000 - (evicted ?? 0))
  assert.ok(cache.stats().bytes <= 4 * 1024 * 1024)
  assert.equal(counts.peek('project 0'), undefined)
  assert.equal(counts.peek('project 19999'), 19_999)
  cache.invalidate(new Map([['project', 'all']]))
  cache.disable()
  assert.equal(counts.peek('project 19999'), 19_999)
  const small = open(2000).cache
  for (let i = 0; i < 10; i++) small.remember(COUNT).store(`${i}`, i)
  assert.equal(small.stats().kinds['counts']?.entries, 0)
  assert.equal(small.stats().kinds['counts']?.oversized, 10)
})
