import assert from 'node:assert/strict'
import type { SearchDocument } from '#ports/search-index/document.ts'
import type { SearchChange } from '#ports/search-index/search-index.ts'
import { type Each, isSearchError, makeDocument, makeVersion, toQuery, where } from './tools.ts'

export function testChanges(each: Each): void {
  each(
    'an upsert replaces a whole project, a deletion removes it, and both are visible immediately',
    async ({ index, put, slugs }) => {
      await put(makeDocument('ring', { name: 'Old Words', versions: [makeVersion('r', { loaders: ['drift'] })] }))
      await put(makeDocument('ring', { name: 'New Words', downloads: 4 }))
      assert.deepEqual(
        [await slugs({ text: 'old' }), await slugs({ filter: where('loaders=drift') }), await slugs({})],
        [[], [], ['ring']],
      )
      assert.equal((await index.status()).documents, 1)
      await index.apply([
        { kind: 'delete', sequence: 3, id: makeDocument('ring').id },
        { kind: 'delete', sequence: 4, id: 'unknown1' },
      ])
      assert.deepEqual([await slugs({}), (await index.status()).documents, (await index.status()).sequence], [[], 0, 4])
    },
  )

  each('a change or deletion that is not newer than the last change does nothing', async ({ index, slugs }) => {
    const upsert = (sequence: number, name: string): SearchChange => ({
      kind: 'upsert',
      sequence,
      document: makeDocument('ring', { name }),
    })
    await index.apply([upsert(5, 'Five'), upsert(4, 'Four'), upsert(5, 'Again')])
    assert.deepEqual(
      [await slugs({ text: 'five' }), await slugs({ text: 'four' }), await slugs({ text: 'again' })],
      [['ring'], [], []],
    )
    await index.apply([{ kind: 'delete', sequence: 7, id: makeDocument('ring').id }, upsert(6, 'Six')])
    assert.deepEqual(await slugs({}), [])
    await index.apply([upsert(8, 'Eight')])
    assert.deepEqual([await slugs({ text: 'eight' }), (await index.status()).sequence], [['ring'], 8])
  })

  each('changed counts move a project in every order that follows them', async ({ put, slugs, ask }) => {
    const counts = [3, 1, 2]
    await put(...counts.map((count, i) => makeDocument(`n${i}`, { downloads: count, follows: count })))
    await put(makeDocument('n1', { downloads: 9, follows: 1 }))
    assert.deepEqual(
      [await slugs({}), await slugs({ sort: 'follows' })],
      [
        ['n1', 'n0', 'n2'],
        ['n0', 'n2', 'n1'],
      ],
    )
    const [first] = (await ask({ filter: where('downloads >= 9') })).hits
    assert.deepEqual([first?.slug, first?.['downloads']], ['n1', 9])
  })

  each('too many changes in one call are rejected, and a closed index fails with search_error', async ({ index }) => {
    const change: SearchChange = { kind: 'delete', sequence: 1, id: 'x' }
    await assert.rejects(index.apply(Array(1001).fill(change)), isSearchError)
    await index.close()
    await assert.rejects(index.search(toQuery({})), isSearchError)
    await assert.rejects(index.apply([change]), isSearchError)
  })
}

export function testRebuild(each: Each): void {
  each('a rebuild answers from the old index until it swaps, and loses no change', async ({ index, put, slugs }) => {
    await put(makeDocument('old-one'), makeDocument('old-two'))
    const batches = async function* () {
      yield [makeDocument('new-one'), makeDocument('gone'), makeDocument('changed', { name: 'Stale' })]
      assert.deepEqual((await slugs({})).sort(), ['old-one', 'old-two'])
      assert.equal((await index.status()).rebuilding, true)
      await index.apply([
        { kind: 'upsert', sequence: 101, document: makeDocument('changed', { name: 'Fresh' }) },
        { kind: 'delete', sequence: 102, id: makeDocument('gone').id },
        { kind: 'delete', sequence: 103, id: makeDocument('late').id },
      ])
      await assert.rejects(
        index.rebuild(async () => ({ sequence: 1, batches: batches() })),
        isSearchError,
      )
      yield [makeDocument('late'), makeDocument('last')]
    }
    await index.rebuild(async () => ({ sequence: 100, batches: batches() }))
    assert.deepEqual((await slugs({})).sort(), ['changed', 'last', 'new-one'])
    assert.deepEqual(await slugs({ text: 'fresh' }), ['changed'])
    const { sequence, rebuilding, documents } = await index.status()
    assert.deepEqual({ sequence, rebuilding, documents }, { sequence: 103, rebuilding: false, documents: 3 })
  })

  each('a rebuild that fails leaves the running index, and another may follow', async ({ index, put, slugs }) => {
    await put(makeDocument('stays'))
    const failing = async function* () {
      yield [makeDocument('half')]
      throw new Error('the database went away')
    }
    await assert.rejects(
      index.rebuild(async () => ({ sequence: 9, batches: failing() })),
      /went away/u,
    )
    assert.deepEqual([await slugs({}), (await index.status()).rebuilding], [['stays'], false])
    const nothing = async function* (): AsyncGenerator<SearchDocument[]> {}
    await index.rebuild(async () => ({ sequence: 9, batches: nothing() }))
    assert.deepEqual([await slugs({}), (await index.status()).sequence], [[], 9])
  })
}
