import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aDownload, aView, batchOf, times } from '#test/support/factories/analytics-events.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import type { AnalyticsStore } from './analytics-store.ts'
import type { EventSink } from './buffer.ts'
import { createSpool } from './spool.ts'

test('a confirmed batch is on disk, and is deleted once the store has it', async (t) => {
  const { spool, files, downloads, store, pass } = await setUp(t)
  store.isAway = true
  await spool.sink.append('download', batchOf([aDownload(), aDownload()]))
  await spool.sink.settled()
  assert.equal((await files()).length, 1)
  store.isAway = false
  await pass()
  await spool.sink.settled()
  assert.deepEqual([await files(), await downloads()], [[], 2])
  assert.deepEqual(spool.stats(), { batches: 0, bytes: 0, refused: 0 })
})

test('batches accumulate with growing delays while the store is unavailable, and each is stored once afterwards', async (t) => {
  const { spool, files, downloads, store, waits, pass } = await setUp(t)
  store.isAway = true
  for (const count of [1, 10, 100]) {
    await spool.sink.append('download', batchOf(times(count, () => aDownload())))
    await spool.sink.settled()
  }
  assert.equal((await files()).length, 3)
  assert.ok(spool.stats().bytes > 0)
  assert.ok(waits().every((ms, i) => ms >= (waits()[i - 1] ?? 0)))
  assert.equal(waits()[0], 200)
  store.isAway = false
  await pass()
  await spool.sink.settled()
  assert.deepEqual([await files(), await downloads()], [[], 111])
})

test('a process that was killed leaves its batches to the next, also when the store had them already', async (t) => {
  const first = await setUp(t)
  first.store.answersAreLost = true
  await first.spool.sink.append('download', batchOf([aDownload()]))
  await first.spool.sink.append('view', batchOf([aView()]))
  await first.spool.sink.settled()
  assert.equal(await first.downloads(), 1)
  assert.equal((await first.files()).length, 2)
  await writeFile(join(first.dir, '1-download-half.json.part'), '{"id":"half"')
  first.store.answersAreLost = false
  const next = createSpool({ ...first.options })
  await next.start()
  await next.sink.settled()
  assert.equal(await first.downloads(), 1)
  assert.deepEqual(await first.files(), ['1-download-half.json.part'])
  await next.close()
})

test('two processes that share a folder send everything once', async (t) => {
  const { spool, options, files, downloads, store } = await setUp(t)
  store.isAway = true
  for (const _ of times(6, () => 0)) await spool.sink.append('download', batchOf([aDownload()]))
  const other = createSpool({ ...options })
  await other.start()
  store.isAway = false
  await Promise.all([spool.sink.settled(), other.sink.settled()])
  await Promise.all([spool.sink.settled(), other.sink.settled()])
  assert.deepEqual([await files(), await downloads()], [[], 6])
  await other.close()
})

test('rejects batches beyond the queue limit, and accepts batches again when there is space', async (t) => {
  const { spool, store, files, downloads } = await setUp(t, 1_000)
  store.isAway = true
  await spool.sink.append('download', batchOf([aDownload()]))
  const large = batchOf(times(10, () => aDownload()))
  await assert.rejects(spool.sink.append('download', large), /reached their maximum size/)
  assert.equal((await files()).length, 1)
  store.isAway = false
  await spool.sink.settled()
  await spool.sink.append('download', batchOf([aDownload()]))
  await spool.sink.settled()
  assert.equal(await downloads(), 2)
})

test('a batch that the store rejects is set aside without delaying others, and retried at the next start', async (t) => {
  const { spool, options, store, files, downloads, pass } = await setUp(t)
  const poisoned = batchOf([aDownload({ project_id: 'Poisoned' })])
  store.refuses = poisoned.id
  await spool.sink.append('download', poisoned)
  for (const _ of times(8, () => 0)) {
    await spool.sink.append('download', batchOf([aDownload()]))
    await pass()
    await spool.sink.settled()
  }
  assert.equal(await downloads(), 8)
  assert.deepEqual(
    (await files()).map((name) => name.split('.').slice(1).join('.')),
    ['json.refused'],
  )
  assert.equal(spool.stats().refused, 1)
  store.refuses = ''
  const next = createSpool({ ...options })
  await next.start()
  await next.sink.settled()
  assert.deepEqual([await files(), await downloads()], [[], 8])
  await next.close()
})

test('sets aside a file that is not a batch', async (t) => {
  const { spool, dir, files, downloads } = await setUp(t)
  await writeFile(join(dir, '1-download-torn.json'), '{"id":"torn","events":[{')
  await writeFile(join(dir, '2-nothing-odd.json'), '{}')
  await spool.start()
  await spool.sink.append('download', batchOf([aDownload()]))
  await spool.sink.settled()
  assert.deepEqual(await files(), ['1-download-torn.json.broken', '2-nothing-odd.json.broken'])
  assert.equal(await downloads(), 1)
})

test('closing while the store is unavailable returns immediately and leaves the batches on disk', async (t) => {
  const { spool, store, files } = await setUp(t)
  store.isAway = true
  await spool.sink.append('download', batchOf([aDownload()]))
  await spool.close()
  assert.equal((await files()).length, 1)
})

async function setUp(t: TestContext, maxBytes = 1_000_000) {
  const dir = await mkdtemp(join(tmpdir(), 'depot-spool-'))
  const store = { isAway: false, answersAreLost: false, refuses: '', naive: openNaiveStore() }
  const waits: number[] = []
  const waiting: (() => void)[] = []
  const append: AnalyticsStore['append'] = async (kind, batch) => {
    if (store.isAway) throw new Error('away')
    if (batch.id === store.refuses) throw new Error('refused')
    await store.naive.append(kind, batch)
    if (store.answersAreLost) throw new Error('no answer')
  }
  const next: EventSink = { append, settled: async () => undefined }
  const options = {
    dir,
    maxBytes,
    next,
    log: { warn: () => undefined, error: () => undefined },
    wait: (ms: number, signal: AbortSignal) => {
      waits.push(ms)
      return new Promise<void>((resolve) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => resolve())
      })
    },
  }
  const spool = createSpool(options)
  t.after(async () => {
    await spool.close()
    await rm(dir, { recursive: true })
  })
  return {
    dir,
    options,
    spool,
    store,
    files: async () => (await readdir(dir)).sort(),
    downloads: async () => (await store.naive.countDownloads({ projectIds: ['Lantern1'] })).projects[0]?.downloads ?? 0,
    waits: () => waits,
    /** Lets every wait end. */
    pass: async () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

test('a batch of an older release is sent, and one of a newer format stays on disk until a newer release starts', async (t) => {
  const { spool, dir, files, downloads } = await setUp(t)
  const batch = batchOf([aDownload()])
  await writeFile(join(dir, '1-download-older.json'), JSON.stringify({ ...batch, id: 'older' }))
  await writeFile(join(dir, '2-download-newer.json'), JSON.stringify({ format: 99, ...batch, id: 'newer' }))
  await spool.start()
  await spool.sink.settled()
  assert.equal(await downloads(), 1)
  assert.deepEqual(await files(), ['2-download-newer.json.refused'])
})
