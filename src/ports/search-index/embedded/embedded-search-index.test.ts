import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { parseSearchRequest, type SearchRequest } from '#features/reading/search/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { testSearchIndex } from '#test/conformance/search-index/suite.ts'
import { makeDocument } from '#test/conformance/search-index/tools.ts'
import { sampleDocuments } from '#test/support/factories/search-catalogue.ts'
import type { SearchIndex, SearchIndexStatus } from '../search-index.ts'
import { type EmbeddedOptions, openEmbeddedSearchIndex } from './embedded-search-index.ts'
import { Engine } from './engine.ts'
import { prepareChange } from './prepare.ts'
import { writeSnapshot } from './snapshot.ts'

testSearchIndex('embedded', () => openEmbeddedSearchIndex())

const folder = await mkdtemp(join(tmpdir(), 'search-index-'))
after(() => rm(folder, { recursive: true }))

const ask = async (index: SearchIndex, request: SearchRequest) =>
  JSON.parse(Buffer.from((await index.search(parseSearchRequest(request))).body).toString())

/** Opens an index that is closed with the test, also when it fails: an open one keeps the process alive. */
async function open(t: TestContext, options: EmbeddedOptions): Promise<SearchIndex> {
  const index = await openEmbeddedSearchIndex(options)
  t.after(() => index.close())
  return index
}

async function filled(t: TestContext, snapshotFile: string): Promise<SearchIndex> {
  const index = await open(t, { snapshotFile })
  const documents = [...sampleDocuments({ seed: 4, projects: 500, versions: 5, isSteady: false })]
  await index.apply(documents.map((document, i) => ({ kind: 'upsert', sequence: i + 1, document })))
  await index.apply([{ kind: 'delete', sequence: 600, id: documents[3]?.id ?? '' }])
  return index
}

const QUERIES: SearchRequest[] = [
  { limit: 100 },
  { query: 'ba', index: 'follows', limit: 100 },
  { new_filters: 'loaders=drift AND game_versions != 1.9.1 AND downloads > 50', index: 'updated', limit: 100 },
]

test('after a restart, the snapshot returns the same results and accepts changes', async (t) => {
  const snapshotFile = join(folder, 'deep', 'index')
  const first = await filled(t, snapshotFile)
  await first.checkpoint()
  const before = await Promise.all(QUERIES.map((query) => ask(first, query)))
  await first.close()
  assert.deepEqual(await readdir(join(folder, 'deep')), ['index'])

  const second = await open(t, { snapshotFile })
  assert.equal((await second.status()).sequence, 600)
  assert.deepEqual(await Promise.all(QUERIES.map((query) => ask(second, query))), before)
  const document = makeDocument('added-later', { downloads: 1e9 })
  await second.apply([{ kind: 'upsert', sequence: 601, document }])
  assert.equal((await ask(second, {})).hits[0].slug, 'added-later')
  assert.equal((await ask(second, { query: 'added lat' })).total_hits, 1)
  await second.close()
})

test('an index that is built by two threads equals one that a single thread builds', async (t) => {
  const [shared, single] = [join(folder, 'shared'), join(folder, 'single')]
  const documents = [...sampleDocuments({ seed: 5, projects: 500, versions: 5, isSteady: false })]
  const index = await open(t, { snapshotFile: shared })
  await index.rebuild(async () => ({ sequence: 1, batches: inBatches() }))
  await index.checkpoint()
  const engine = new Engine()
  engine.add(documents.map((document) => prepareChange({ kind: 'upsert', sequence: 1, document })))
  engine.finish()
  await writeSnapshot(single, engine.save(), () => undefined)
  assert.ok((await readFile(shared)).equals(await readFile(single)))

  async function* inBatches() {
    for (let i = 0; i < documents.length; i += 130) yield documents.slice(i, i + 130)
  }
})

test('a damaged, shortened or foreign snapshot is reported and not used', async (t) => {
  const good = join(folder, 'good')
  const index = await filled(t, good)
  await index.checkpoint()
  await index.close()
  const bytes = await readFile(good)
  const flipped = (at: number) => (path: string) => {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    return writeFile(path, copy)
  }
  const damage: [string, (path: string) => Promise<void>][] = [
    ['a flipped bit', flipped(bytes.length - 5000)],
    ['a missing end', (path) => truncate(path, bytes.length - 100)],
    ['a damaged header', flipped(40)],
    ['another file', (path) => writeFile(path, 'something else')],
    ['an empty file', (path) => writeFile(path, '')],
  ]
  for (const [what, spoil] of damage) {
    const snapshotFile = join(folder, 'spoilt')
    await writeFile(snapshotFile, bytes)
    await spoil(snapshotFile)
    const problems: string[] = []
    const opened = await open(t, { snapshotFile, onError: (problem) => problems.push(problem.message) })
    const { documents, sequence } = await opened.status()
    assert.deepEqual([documents, sequence, problems.length], [0, 0, 1], what)
    await opened.close()
  }
})

test('a crashed thread is replaced from the snapshot; until then there is search_error and nothing hangs', async (t) => {
  const snapshotFile = join(folder, 'crash')
  const workers: Worker[] = []
  const problems: string[] = []
  let restarted: (status: SearchIndexStatus) => void = () => undefined
  const index = await open(t, {
    snapshotFile,
    startWorker: (workerData) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
      workers.push(worker)
      return worker
    },
    onError: (problem) => problems.push(problem.message),
    onRestart: (status) => restarted(status),
  })
  await index.apply([{ kind: 'upsert', sequence: 1, document: makeDocument('kept') }])
  await index.checkpoint()
  await index.apply([{ kind: 'upsert', sequence: 2, document: makeDocument('lost') }])

  const answersAgain = new Promise<SearchIndexStatus>((resolve) => {
    restarted = resolve
  })
  const isSearchError = (error: unknown) => error instanceof ApiError && error.kind === 'search_error'
  const cut = assert.rejects(
    index.rebuild(async () => ({ sequence: 3, batches: endless() })),
    isSearchError,
  )
  await workers[0]?.terminate()
  await assert.rejects(index.search(parseSearchRequest({})), isSearchError)
  assert.equal((await index.status()).ready, false)
  const status = await answersAgain
  await cut
  assert.deepEqual(
    [status.sequence, status.documents, status.rebuilding, workers.length, problems.length],
    [1, 1, false, 2, 1],
  )
  assert.deepEqual(
    (await ask(index, {})).hits.map((hit: { slug: string }) => hit.slug),
    ['kept'],
  )
  await index.apply([{ kind: 'upsert', sequence: 2, document: makeDocument('lost') }])
  assert.equal((await ask(index, {})).total_hits, 2)
  await index.close()

  async function* endless() {
    for (let i = 0; ; i += 1) yield [makeDocument(`endless-${i}`)]
  }
})

test('searches sent together are answered each with its own bytes, while a snapshot is written and changes wait', async (t) => {
  const index = await filled(t, join(folder, 'together'))
  const saved = index.checkpoint()
  const change = index.apply([{ kind: 'delete', sequence: 700, id: 'unknown1' }])
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(index, { offset: i, limit: 1 })))
  assert.equal(new Set(answers.map((answer) => answer.hits[0].project_id)).size, 200)
  await Promise.all([saved, change])
  assert.equal((await index.status()).sequence, 700)
  await index.close()
})

test('a thread that cannot be started again is tried again, and closing ends all of it', async (t) => {
  const workers: Worker[] = []
  let failures = 2
  const answersAgain = Promise.withResolvers<SearchIndexStatus>()
  const index = await open(t, {
    startWorker: (workerData) => {
      if (workers.length > 0 && failures > 0) {
        failures -= 1
        throw new Error('no room for a thread')
      }
      const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
      workers.push(worker)
      return worker
    },
    onRestart: answersAgain.resolve,
  })
  const dying = workers[0]?.terminate()
  // Asked of a thread that is dying: the answer is that there is none.
  assert.equal((await index.status()).ready, false)
  await dying
  assert.equal((await answersAgain.promise).ready, true)
  assert.deepEqual([workers.length, failures, (await ask(index, {})).total_hits], [2, 0, 0])
  const left = [index.search(parseSearchRequest({})), index.close(), index.close()]
  await Promise.all(left)
  const isGone = workers.every(({ threadId }) => threadId === -1)
  assert.equal(isGone, true)
})
