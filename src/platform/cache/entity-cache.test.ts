import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeSet, type Changes } from './changes.ts'
import { createEntityCache } from './entity-cache.ts'
import type { KindDefinition } from './entries.ts'

interface Thing {
  id: string
  slug: string
  revision: number
  bytes: number
}

const thing = (id: string, fields: Partial<Thing> = {}): Thing => ({
  id,
  slug: `slug-${id}`,
  revision: 1,
  bytes: 100,
  ...fields,
})

const definition: KindDefinition<Thing> = {
  name: 'project',
  contains: 'Things',
  idOf: (value) => value.id,
  sizeOf: (value) => value.bytes,
  aliasesOf: (value) => [value.slug],
  foldAlias: (name) => name.toLowerCase(),
  revisionOf: (value) => value.revision,
}

/** Creates a cache over rows. It records each load, which continues only when the test releases it. */
function setUp(options: { rows?: Thing[]; maxBytes?: number } = {}) {
  const rows = new Map((options.rows ?? [thing('a'), thing('b'), thing('c')]).map((row) => [row.id, row]))
  const cache = createEntityCache({ maxBytes: options.maxBytes ?? 1_000_000 })
  cache.enable()
  const loads: string[][] = []
  const read = (refs: string[]): Thing[] =>
    [...rows.values()].filter((row) => refs.some((ref) => ref === row.id || ref.toLowerCase() === row.slug))
  const load = async (refs: string[]): Promise<Thing[]> => {
    loads.push(refs)
    return read(refs)
  }
  /** Returns a loader that reads immediately and returns when `answer` is called. */
  const slowLoad = () => {
    const gate = Promise.withResolvers<void>()
    return {
      answer: gate.resolve,
      fail: gate.reject,
      load: async (refs: string[]): Promise<Thing[]> => {
        loads.push(refs)
        const values = read(refs)
        await gate.promise
        return values
      },
    }
  }
  return { rows, cache, things: cache.kind(definition), loads, load, slowLoad }
}

const changesOf = (...ids: string[]): Changes => new Map([['project', new Set(ids)]])

test('many cold values cost one load, warm ones none, and absent ones are left out', async () => {
  const { things, load, loads } = setUp()
  const cold = await things.getMany(['a', 'b', 'a', 'absent'], load)
  assert.deepEqual([...cold.keys()].sort(), ['a', 'b'])
  const warm = await things.getMany(['b', 'a'], load)
  assert.equal(warm.get('a'), cold.get('a'))
  assert.deepEqual(loads, [['a', 'b', 'absent']])
})

test('loads an absent value again each time', async () => {
  const { rows, things, load, loads } = setUp()
  assert.equal(await things.get('new', load), undefined)
  rows.set('new', thing('new'))
  assert.equal((await things.get('new', load))?.id, 'new')
  assert.equal(loads.length, 2)
})

test('concurrent callers share the load of common IDs', async () => {
  const { things, slowLoad, loads } = setUp()
  const first = slowLoad()
  const second = slowLoad()
  const one = things.getMany(['a', 'b'], first.load)
  const two = things.getMany(['b', 'c'], second.load)
  first.answer()
  second.answer()
  assert.equal((await one).get('b'), (await two).get('b'))
  assert.deepEqual(loads, [['a', 'b'], ['c']])
})

test('a caller loads for itself if a shared load fails, and receives its own failure', async () => {
  const { things, slowLoad, load, loads } = setUp()
  const failing = slowLoad()
  const owner = things.get('a', failing.load)
  const joined = things.get('a', load)
  failing.fail(new Error('the client went away'))
  await assert.rejects(owner, /the client went away/)
  assert.equal((await joined)?.id, 'a')
  assert.deepEqual(loads, [['a'], ['a']])
})

test('when the database is down, any number of waiting callers cost two loads', async () => {
  const { things } = setUp()
  let calls = 0
  const down = async (): Promise<Thing[]> => {
    calls++
    await new Promise(setImmediate)
    throw new Error('down')
  }
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => things.get('a', down)))
  assert.ok(results.every((result) => result.status === 'rejected'))
  assert.equal(calls, 2)
})

test('a value is found by its ID, its alias in any case, and by peeking once it is warm', async () => {
  const { things, load, loads } = setUp()
  assert.equal(things.peekNamed('SLUG-a'), undefined)
  const value = await things.getNamed('SLUG-a', load)
  assert.equal(value?.id, 'a')
  assert.equal(things.peekNamed('slug-A'), value)
  assert.equal(things.peekNamed('a'), value)
  assert.equal(things.peek('a'), value)
  assert.equal(things.peek('slug-a'), undefined, 'an alias is not an ID')
  assert.deepEqual([...(await things.getManyNamed(['slug-a', 'SLUG-B'], load)).keys()], ['slug-a', 'SLUG-B'])
  assert.deepEqual(loads, [['SLUG-a'], ['SLUG-B']])
})

test('an ID takes precedence over an equal alias', async () => {
  const { things, load } = setUp({ rows: [thing('x', { slug: 'y' }), thing('y')] })
  assert.equal((await things.getNamed('y', load))?.id, 'y')
  assert.equal(things.peekNamed('y')?.id, 'y')
})

test('after a rename only the ID has to be named as changed', async () => {
  const { rows, cache, things, load } = setUp()
  await things.getMany(['a', 'b'], load)
  rows.set('a', thing('a', { slug: 'renamed', revision: 2 }))
  rows.set('b', thing('b', { slug: 'slug-a', revision: 2 }))
  cache.invalidate(changesOf('a', 'b'))
  assert.equal((await things.getNamed('slug-a', load))?.id, 'b')
  assert.equal((await things.getNamed('renamed', load))?.id, 'a')
  assert.equal(await things.getNamed('slug-b', load), undefined)
})

test('a load that a change overtakes is not cached or returned to later callers', async () => {
  const { rows, cache, things, slowLoad, load } = setUp()
  for (const [ref, method] of [['a', 'get'] as const, ['slug-a', 'getNamed'] as const]) {
    const overtaken = slowLoad()
    const before = things[method](ref, overtaken.load)
    const revision = (rows.get('a')?.revision ?? 0) + 1
    rows.set('a', thing('a', { revision }))
    cache.invalidate(changesOf('a'))
    const after = things[method](ref, load)
    overtaken.answer()
    assert.equal((await before)?.revision, revision - 1)
    assert.equal((await after)?.revision, revision)
    assert.equal(things.peek('a')?.revision, revision)
    cache.clear()
  }
})

test('a change of one entity does not prevent a bulk load from caching the others', async () => {
  const { cache, things, slowLoad } = setUp()
  const bulk = slowLoad()
  const values = things.getMany(['a', 'b', 'c'], bulk.load)
  cache.invalidate(changesOf('b'))
  bulk.answer()
  await values
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => things.peek(id)?.id),
    ['a', undefined, 'c'],
  )
  assert.equal(things.stats().overtaken, 1)
})

test('while an entity is blocked, each read loads it and nothing is cached, even after the release', async () => {
  const { cache, things, slowLoad, load, loads } = setUp()
  await things.get('a', load)
  const release = cache.hold(changesOf('a'))
  const [first, second] = [slowLoad(), slowLoad()]
  const reads = [things.get('a', first.load), things.get('a', second.load)]
  first.answer()
  await reads[0]
  assert.equal(things.peek('a'), undefined)
  release()
  second.answer()
  await reads[1]
  assert.equal(things.peek('a'), undefined)
  await things.get('a', load)
  assert.equal(things.peek('a')?.id, 'a')
  assert.equal(loads.length, 4)
})

test('overlapping blocks of one entity end with the last block', async () => {
  const { cache, things, load } = setUp()
  const [one, two] = [cache.hold(changesOf('a')), cache.hold(new Map([['project', 'all' as const]]))]
  one()
  one()
  await things.get('a', load)
  assert.equal(things.peek('a'), undefined)
  two()
  await things.get('a', load)
  assert.equal(things.peek('a')?.id, 'a')
})

test('an older revision does not replace a newer one', async () => {
  const { things, load } = setUp({ rows: [thing('a', { revision: 5 })] })
  await things.get('a', load)
  const lagging = async (): Promise<Thing[]> => [thing('a', { revision: 4 })]
  assert.equal((await things.getNamed('other-name', lagging))?.id, undefined)
  assert.equal(things.peek('a')?.revision, 5)
})

test('a load by a name that was valid at the time of the read finds the entity, even if a newer value is cached', async () => {
  const { rows, things, load, slowLoad } = setUp({ rows: [thing('a', { slug: 'red' })] })
  const slow = slowLoad()
  const asked = things.getNamed('red', slow.load)
  // In one commit the name goes over to another thing; its message has not arrived.
  rows.set('a', thing('a', { slug: 'was-red', revision: 2 }))
  rows.set('b', thing('b', { slug: 'red', revision: 2 }))
  await things.get('a', load)
  slow.answer()
  assert.equal((await asked)?.revision, 1)
  assert.equal(things.peek('a')?.revision, 2)
})

test('it starts switched off, and keeps and shares nothing until it is switched on', async () => {
  const { load, loads } = setUp()
  const cache = createEntityCache({ maxBytes: 1_000_000 })
  const things = cache.kind(definition)
  await Promise.all([things.get('a', load), things.get('a', load)])
  assert.equal(things.peek('a'), undefined)
  assert.equal(loads.length, 2)
  cache.enable()
  await things.get('a', load)
  assert.equal(things.peek('a')?.id, 'a')
  cache.disable()
  assert.equal(things.peek('a'), undefined)
  assert.equal(cache.stats().bytes, 0)
})

test('a load that began while the cache was off is not cached later', async () => {
  const { cache, things, slowLoad } = setUp()
  cache.disable()
  const slow = slowLoad()
  const value = things.get('a', slow.load)
  cache.enable()
  slow.answer()
  assert.equal((await value)?.id, 'a')
  assert.equal(things.peek('a'), undefined)
})

test('its bytes stay within the bound and what was used last stays longest', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => thing(`n${index}`))
  const { cache, things, load } = setUp({ rows, maxBytes: 10_000 })
  for (const row of rows) {
    await things.get(row.id, load)
    things.peek('n0')
    assert.ok(cache.stats().bytes <= 10_000)
  }
  const { entries, evicted } = things.stats()
  assert.equal(entries + evicted, 40)
  assert.equal(things.peek('n0')?.id, 'n0')
  assert.equal(things.peekNamed('slug-n1'), undefined, 'an evicted entry takes its alias along')
  assert.equal(things.peek('n39')?.id, 'n39')
})

test('a value larger than a sixteenth of the limit is returned but not cached', async () => {
  const { things, load } = setUp({ rows: [thing('big', { bytes: 70_000 })] })
  assert.equal((await things.get('big', load))?.id, 'big')
  assert.equal(things.peek('big'), undefined)
  assert.equal(things.stats().oversized, 1)
})

test('a definition gives the same entries each time, a second definition of its name is rejected', async () => {
  const { cache, things, load } = setUp()
  await things.get('a', load)
  assert.equal(cache.kind(definition).peek('a')?.id, 'a')
  assert.throws(() => cache.kind({ ...definition }), /Two definitions of the cache project/)
})

test('the counts of hits, misses and loads are those of the reads', async () => {
  const { cache, things, load } = setUp()
  await things.getMany(['a', 'b', 'absent'], load)
  things.peek('a')
  await things.getMany(['a', 'b'], load)
  const { hits, misses, loads, entries } = things.stats()
  assert.deepEqual({ hits, misses, loads, entries }, { hits: 3, misses: 3, loads: 1, entries: 2 })
  assert.deepEqual(Object.entries(cache.stats().kinds), [['project', things.stats()]])
})

test('a change set contains "all" from 5,000 IDs of a kind, and rejects unknown kinds and IDs', () => {
  const changed = new ChangeSet<string>()
  changed.add('project', ...Array.from({ length: 5_000 }, (_, index) => String(index)))
  assert.notEqual(changed.changes.get('project'), 'all')
  changed.add('project', 'one more')
  assert.equal(changed.changes.get('project'), 'all')
  changed.add('project', 'and another')
  changed.add('nothing')
  assert.deepEqual([...changed.changes.keys()], ['project'])
  assert.throws(() => changed.add('No Kind', 'x'), RangeError)
  assert.throws(() => changed.add('thing-2', ''), RangeError)
  assert.throws(() => changed.add('thing-2', 'x'.repeat(201)), RangeError)
})

test('another form of a value is made once, counted with the value, and dropped with it', async () => {
  const { rows, cache, things, load } = setUp({ maxBytes: 100_000 })
  let made = 0
  const form = {
    derive: ({ id, revision }: Thing) => {
      made += 1
      return { text: `${id} ${revision}` }
    },
    sizeOf: () => 2_000,
  }
  const value = await things.get('a', load)
  assert.ok(value !== undefined)
  const before = cache.stats().bytes
  const first = things.derive(value, form)
  assert.equal(things.derive(value, form), first)
  assert.deepEqual([first.text, made, cache.stats().bytes - before], ['a 1', 1, 2_000])
  rows.set('a', thing('a', { revision: 2 }))
  cache.invalidate(changesOf('a'))
  assert.equal(cache.stats().bytes, 0)
  const next = await things.get('a', load)
  assert.ok(next !== undefined)
  assert.equal(things.derive(next, form).text, 'a 2')
  assert.equal(things.derive(value, form), first, 'the derived form stays with the old value')
  assert.equal(cache.stats().bytes - before, 2_000, 'and it is not counted again')
})

test('derived forms count towards the limit, and the least recently used entries are evicted', async () => {
  const { things, load } = setUp({ maxBytes: 16_000 })
  const values = await things.getMany(['a', 'b', 'c'], load)
  const form = { derive: ({ id }: Thing) => ({ id }), sizeOf: () => 7_500 }
  for (const id of ['a', 'b']) things.derive(values.get(id) as Thing, form)
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => things.peek(id)?.id),
    ['a', 'b', undefined],
  )
})

test('a name that moved during the load returns the loaded entity', async () => {
  const { rows, things, load, slowLoad } = setUp({ rows: [thing('a', { slug: 'red' }), thing('b')] })
  const slow = slowLoad()
  const asked = things.getNamed('red', slow.load)
  // Another process renames: its notice has not arrived, but a load by ID has read the new state.
  rows.set('a', thing('a', { slug: 'was-red', revision: 2 }))
  rows.set('b', thing('b', { slug: 'red', revision: 2 }))
  await things.get('a', load)
  slow.answer()
  assert.deepEqual(await asked, thing('a', { slug: 'red' }))
  assert.equal(things.peek('a')?.slug, 'was-red')
})

/** A cache of things with downloads; `load` answers when it is let. */
function setUpCounting() {
  type CountedThing = { id: string; revision: number; downloads: number }
  const cache = createEntityCache({ maxBytes: 1_000_000 })
  cache.enable()
  const things = cache.kind<CountedThing>({
    name: 'project',
    contains: 'Things',
    idOf: ({ id }) => id,
    sizeOf: () => 100,
    revisionOf: ({ revision }) => revision,
    recount: (value, { revision, downloads }) => {
      if (value.revision !== revision) return value.revision > revision ? value : undefined
      return downloads > value.downloads ? { ...value, downloads } : value
    },
  })
  const row = { id: 'a', revision: 2, downloads: 5 }
  const load = async (): Promise<CountedThing[]> => [{ ...row }]
  const recount = (revision: number, downloads: number): void =>
    cache.recount(new Map([['project', new Map([['a', { revision, downloads }]])]]))
  return { cache, things, row, load, recount }
}

test('adds counted downloads to cached values, however late and in whatever order they arrive', async () => {
  const { things, load, recount } = setUpCounting()
  recount(2, 6)
  assert.equal(things.peek('a'), undefined)
  await things.get('a', load)
  recount(2, 9)
  assert.equal(things.peek('a')?.downloads, 9)
  recount(2, 7)
  assert.equal(things.peek('a')?.downloads, 9, 'an older number came late')
  recount(1, 50)
  assert.equal(things.peek('a')?.downloads, 9, 'a number from before the last edit')
  recount(3, 10)
  assert.equal(things.peek('a'), undefined, 'after an edit without a notification')
})

test('a load that might have read the old number is not cached, or returned after the count', async () => {
  const { things, row, load, recount } = setUpCounting()
  const gate = Promise.withResolvers<void>()
  const early = things.get('a', async () => {
    const read = { ...row }
    await gate.promise
    return [read]
  })
  row.downloads = 8
  recount(2, 8)
  assert.equal((await things.get('a', load))?.downloads, 8)
  gate.resolve()
  assert.equal((await early)?.downloads, 5)
  assert.equal(things.peek('a')?.downloads, 8)
})

test('kinds that show no downloads drop what was counted', async () => {
  const { cache, things, load } = setUp()
  await things.get('a', load)
  cache.recount(new Map([['project', new Map([['a', { revision: 1, downloads: 1 }]])]]))
  assert.equal(things.peek('a'), undefined)
})
