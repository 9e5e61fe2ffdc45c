// Cached results with several dependencies: they are valid until one dependency changes, also while they are computed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Changes } from './changes.ts'
import type { DerivedDefinition } from './derived-cache.ts'
import { createEntityCache } from './entity-cache.ts'
import type { KindDefinition } from './entries.ts'

type Thing = { id: string; slug: string }

const THING: KindDefinition<Thing> = {
  name: 'project',
  contains: 'Things',
  idOf: ({ id }) => id,
  sizeOf: () => 100,
  aliasesOf: ({ slug }) => [slug],
}
const PAGE: DerivedDefinition<string> = { name: 'page', contains: 'Things', sizeOf: (page) => page.length }

const changesOf = (...ids: string[]): Changes => new Map([['project', new Set(ids)]])
const load = async (refs: string[]): Promise<Thing[]> =>
  refs.map((ref) => ({ id: ref.replace('slug-', ''), slug: `slug-${ref.replace('slug-', '')}` }))

function setUp({ maxBytes = 1_000_000 } = {}) {
  const cache = createEntityCache({ maxBytes })
  cache.enable()
  const pages = cache.derived(PAGE)
  /** Builds a page that depends on one ID and one name, and calls `meanwhile` during the build. */
  const make = async (key: string, ids: [string, string], meanwhile = () => {}) => {
    const making = pages.begin(cache)
    const things = making.cache.kind(THING)
    await things.get(ids[0], load)
    meanwhile()
    await things.getNamed(`slug-${ids[1]}`, load)
    making.store(key, `page of ${ids}`)
    making.end()
  }
  return { cache, pages, make }
}

test('a result is cached until one of its dependencies changes', async () => {
  const { cache, pages, make } = setUp()
  await make('one', ['a', 'b'])
  await make('two', ['b', 'c'])
  assert.equal(pages.peek('one'), 'page of a,b')
  cache.invalidate(changesOf('elsewhere'))
  cache.invalidate(changesOf('a'))
  assert.deepEqual([pages.peek('one'), pages.peek('two')], [undefined, 'page of b,c'])
  await make('one', ['a', 'b'])
  cache.invalidate(changesOf('b'))
  assert.deepEqual([pages.peek('one'), pages.peek('two')], [undefined, undefined])
})

test('a result with thousands of dependencies is cached, and each of them drops it', async () => {
  const { cache, pages } = setUp({ maxBytes: 100_000_000 })
  const ids = Array.from({ length: 5_000 }, (_, n) => `project ${n}`)
  for (const changed of ['project 0', 'project 4999']) {
    const making = pages.begin(cache)
    await making.cache.kind(THING).getMany(ids, load)
    making.store('large', 'page')
    making.end()
    assert.equal(pages.peek('large'), 'page')
    cache.invalidate(changesOf('elsewhere'))
    assert.equal(pages.peek('large'), 'page')
    cache.invalidate(changesOf(changed))
    assert.equal(pages.peek('large'), undefined)
  }
})

test('counted downloads, a change of anything, an empty and a switched-off cache drop it', async () => {
  const { cache, pages, make } = setUp()
  const drops = [
    () => cache.recount(new Map([['project', new Map([['b', { revision: 1, downloads: 2 }]])]])),
    () => cache.invalidate(new Map([['project', 'all']])),
    () => cache.clear(),
    () => cache.disable(),
  ]
  for (const drop of drops) {
    await make('one', ['a', 'b'])
    assert.equal(pages.peek('one'), 'page of a,b')
    drop()
    assert.equal(pages.peek('one'), undefined, String(drop))
  }
  await make('one', ['a', 'b'])
  assert.equal(pages.peek('one'), undefined, 'no process announces changes')
})

test('a result is not cached if a dependency changes while it is computed', async () => {
  const { cache, pages, make } = setUp()
  for (const changed of ['a', 'b']) {
    await make('one', ['a', 'b'], () => cache.invalidate(changesOf(changed)))
    assert.equal(pages.peek('one'), undefined, changed)
  }
  await make('one', ['a', 'b'], () => cache.invalidate(changesOf('c')))
  assert.equal(pages.peek('one'), 'page of a,b')
  assert.equal(cache.stats().kinds['page']?.overtaken, 2)
})

test('caches nothing while a dependency is being committed, nor results that were begun in that time', async () => {
  const { cache, pages, make } = setUp()
  await make('one', ['a', 'b'])
  const release = cache.hold(changesOf('b'))
  assert.equal(pages.peek('one'), undefined)
  await make('one', ['a', 'b'])
  assert.equal(pages.peek('one'), undefined)
  await make('two', ['a', 'c'])
  assert.equal(pages.peek('two'), 'page of a,c')
  await make('one', ['a', 'b'], release)
  assert.equal(pages.peek('one'), undefined)
  await make('one', ['a', 'b'])
  assert.equal(pages.peek('one'), 'page of a,b')
})

test('a table that is first asked for during a commit keeps nothing of it either', async () => {
  const cache = createEntityCache({ maxBytes: 1_000_000 })
  cache.enable()
  const release = cache.hold(changesOf('a'))
  const pages = cache.derived({ name: 'page', contains: 'Things', sizeOf: () => 10 })
  const making = pages.begin(cache)
  await making.cache.kind(THING).get('a', load)
  making.store('one', 'late')
  assert.equal(pages.peek('one'), undefined)
  release()
  making.store('one', 'late')
  making.end()
  assert.equal(pages.peek('one'), undefined)
})

test('the bytes of answers count with those of everything else, and the least used go first', async () => {
  const { cache, pages, make } = setUp({ maxBytes: 20_000 })
  for (let n = 0; n < 100; n += 1) {
    await make(`page ${n}`, [`a${n}`, `b${n}`])
    assert.ok(cache.stats().bytes <= 20_000)
  }
  assert.equal(pages.peek('page 0'), undefined)
  assert.equal(pages.peek('page 99'), 'page of a99,b99')
  const { entries = 0, evicted = 0 } = cache.stats().kinds['page'] ?? {}
  assert.equal(entries + evicted, 100)
  const making = pages.begin(cache)
  making.store('huge', 'x'.repeat(5_000))
  making.end()
  assert.equal(pages.peek('huge'), undefined)
  assert.equal(cache.stats().kinds['page']?.oversized, 1)
})
