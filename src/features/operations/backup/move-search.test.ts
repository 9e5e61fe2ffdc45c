// Another index answers like one in memory before an operator relies on it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { seedCatalogue } from '#demo/seed-catalogue.ts'
import { openScratchSearch } from '#main/open-search.ts'
import type { SearchFeed } from '#ports/search-index/feed/search-feed.ts'
import { commandHere } from '#test/support/command-here.ts'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { moveSearch } from './move-search.ts'

let t: TestApp
let target: SearchFeed
let scratch: SearchFeed
before(async () => {
  t = await testApp()
  await seedCatalogue(t.deps, 12)
  target = openScratchSearch(t.deps)
  scratch = openScratchSearch(t.deps)
})
after(async () => {
  await target?.close()
  await scratch?.close()
  await t?.close()
})

test('the same answers to searches of every kind', async () => {
  let last: number[] = []
  const { documents, queries } = await moveSearch(
    { target, scratch },
    { onProgress: (_step, done, total) => (last = [done, total ?? 0]) },
  )
  const { projects } = (await t.anyone.get('/v3/statistics')).json()
  assert.ok(documents === projects && documents > 5 && queries > 50, `${documents} of ${projects}, ${queries}`)
  assert.deepEqual(last, [queries - 1, queries])
})

test('a difference is named', async () => {
  const other: SearchFeed = {
    ...target,
    search: (query) => (query.text === '' ? target.search(query) : target.search({ ...query, text: 'no such word' })),
  }
  await assert.rejects(moveSearch({ target: other, scratch }, {}), /The answers to \{"query":"[^"]+"\} differ/)
  const fewer: SearchFeed = { ...target, state: async () => ({ ...(await target.state()), documents: 1 }) }
  await assert.rejects(moveSearch({ target: fewer, scratch }, {}), /The numbers of projects differ/)
})

test('what cannot be is refused in a sentence', async () => {
  const { database } = t.deps.config
  const folder = mkdtempSync(join(tmpdir(), 'depot-move-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'new.env')
  const env = {
    DATABASE_URL: database.kind === 'external' ? database.url.reveal() : '',
    DATA_DIR: join(folder, 'data'),
  }
  const away = 'http://depot:secret@127.0.0.1:1'
  for (const [settings, more, sentence] of [
    ['# nothing', {}, /names no OpenSearch: set OPENSEARCH_URL in it, for example OPENSEARCH_URL=/],
    [`OPENSEARCH_URL=${away}`, { OPENSEARCH_URL: away }, /name the index that is used already/],
    [`OPENSEARCH_URL=${away}`, {}, /^OpenSearch does not answer: .*ECONNREFUSED/],
    ['OPENSEARCH_URL=nonsense', {}, /OPENSEARCH_URL must be/],
  ] as const) {
    writeFileSync(path, settings)
    const { code, stderr } = await commandHere(['move', 'search', '--to', path], { ...env, ...more })
    assert.equal(code, 1)
    assert.match(stderr, sentence)
    assert.ok(!stderr.includes('secret') && !stderr.includes('\n    at '), stderr)
  }
  const missing = await commandHere(['move', 'search', '--to', join(folder, 'none.env')], env)
  assert.match(missing.stderr, /^The settings in .*none\.env cannot be read: /)
})
