import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { aDownload, aView, NOON, somePlaytime, times } from '#test/support/factories/analytics-events.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import type { AnalyticsStore } from './analytics-store.ts'
import { createEventBuffer } from './buffer.ts'
import type { EventKind } from './events.ts'
import { sliceGrid } from './slices.ts'

test('an event is stored when its second is over, and not before', async () => {
  const { buffer, viewCount, clock } = setUp()
  assert.ok(buffer.add('view', aView()))
  assert.ok(buffer.add('view', aView()))
  assert.deepEqual(clock.waits(), [1000])
  assert.equal(await viewCount(), 0)
  clock.pass()
  await buffer.flush()
  assert.equal(await viewCount(), 2)
})

test('stores a full batch immediately, whatever the clock shows', async () => {
  const { buffer, stored } = setUp({ batchEvents: 3 })
  for (const event of times(3, () => aView())) buffer.add('view', event)
  buffer.add('view', aView())
  await settled()
  assert.deepEqual(stored(), ['view 3'])
  assert.equal(buffer.stats().view.pending, 1)
})

test('closing stores everything that was accepted, and accepts nothing more', async () => {
  const { buffer, stored } = setUp({ batchEvents: 4 })
  for (const event of times(10, () => aView())) buffer.add('view', event)
  buffer.add('playtime', somePlaytime())
  await Promise.all([buffer.close(), buffer.close()])
  assert.deepEqual(stored().toSorted(), ['playtime 1', 'view 2', 'view 4', 'view 4'])
  assert.equal(buffer.add('view', aView()), false)
  assert.deepEqual(buffer.stats().view, { pending: 0, stored: 10, dropped: 1, lost: 0, failedAttempts: 0 })
})

test('an event is stored within a second plus one append, however slow the store is and whenever the event arrives', async () => {
  for (const appendMs of [0, 300, 999, 1_000, 2_500, 9_999]) {
    const { buffer, clock, storedAt } = setUp({ appendMs })
    const addedAt: number[] = []
    // Arrivals at every phase of a second and of an append, and one of another kind at the same time.
    for (let arrival = 0; arrival < 40; arrival += 1) {
      addedAt.push(clock.now())
      buffer.add('download', aDownload())
      buffer.add('view', aView())
      await clock.advance(370)
    }
    await clock.advance(1_000 + appendMs)
    const times = storedAt('download')
    assert.equal(times.length, addedAt.length)
    for (const [i, at] of addedAt.entries()) {
      const waited = (times[i] ?? Number.POSITIVE_INFINITY) - at
      assert.ok(waited <= 1_000 + appendMs, `an append takes ${appendMs} ms, and event ${i} waited ${waited} ms`)
    }
    assert.ok(clock.appends() <= 2 * (40 * 0.37 + 2), 'one batch of a kind per second')
  }
})

test('an event waits for at most one commit of a store that commits everything that waits, one commit after another', async () => {
  for (const appendMs of [300, 1_000, 1_200, 2_500]) {
    const { buffer, clock, storedAt } = setUp({ appendMs, isSerial: true })
    const addedAt: number[] = []
    for (let arrival = 0; arrival < 60; arrival += 1) {
      addedAt.push(clock.now())
      buffer.add('download', aDownload())
      // The other kinds arrive at other times.
      await clock.advance(170)
      buffer.add('view', aView())
      await clock.advance(60)
      buffer.add('playtime', somePlaytime())
      await clock.advance(140)
    }
    await clock.advance(1_000 + 2 * appendMs)
    const times = storedAt('download')
    assert.equal(times.length, addedAt.length)
    for (const [i, at] of addedAt.entries()) {
      const waited = (times[i] ?? Number.POSITIVE_INFINITY) - at
      assert.ok(waited <= Math.max(1_000, appendMs) + appendMs, `${appendMs} ms: event ${i} waited ${waited} ms`)
    }
  }
})

test('events that wait for a stuck store do not start further appends, and are stored when it continues', async () => {
  const { buffer, clock, tried, stored } = setUp({ appendMs: 100_000 })
  for (const _ of times(30, () => 0)) {
    buffer.add('view', aView())
    await clock.advance(1_000)
  }
  assert.equal(tried().length, 16)
  const closed = buffer.close()
  await clock.advance(200_000)
  await closed
  assert.equal(buffer.stats().view.stored, 30)
  assert.equal(stored().length, 17)
})

test('a failing store is tried again at least once per second until it responds, and nothing is lost', async () => {
  const { buffer, stored, clock, breakFor, logged } = setUp({ batchEvents: 1 })
  breakFor('view', 65)
  buffer.add('view', aView())
  for (const _ of times(65, () => 0)) {
    await settled()
    clock.pass()
  }
  await buffer.flush()
  assert.deepEqual(clock.waits(), [200, 400, 800, ...times(62, () => 1000)])
  assert.deepEqual(stored(), ['view 1'])
  assert.equal(buffer.stats().view.failedAttempts, 65)
  assert.equal(logged().length, 3)
})

test('a caller can stop waiting for a failing store, and the events are still stored', async () => {
  const { buffer, stored, clock, breakFor } = setUp({ batchEvents: 1 })
  breakFor('view', 1)
  buffer.add('view', aView())
  const patience = new AbortController()
  const flushed = buffer.flush(patience.signal)
  patience.abort(new Error('long enough'))
  await assert.rejects(flushed, /long enough/)
  await assert.rejects(buffer.flush(patience.signal), /long enough/)
  await settled()
  clock.pass()
  await buffer.flush(new AbortController().signal)
  assert.deepEqual(stored(), ['view 1'])
})

test('trouble with one kind does not hold up another', async () => {
  const { buffer, stored, breakFor } = setUp({ batchEvents: 1 })
  breakFor('view', 1000)
  buffer.add('view', aView())
  buffer.add('download', aDownload())
  await settled()
  assert.deepEqual(stored(), ['download 1'])
})

test('when the store stays away the buffer fills up, drops what is too much, and counts it', async () => {
  const { buffer, breakFor } = setUp({ batchEvents: 2, capacity: 5 })
  breakFor('view', 1000)
  assert.deepEqual(
    times(7, () => buffer.add('view', aView())),
    [true, true, true, true, true, false, false],
  )
  assert.deepEqual(buffer.stats().view, { pending: 5, stored: 0, dropped: 2, lost: 0, failedAttempts: 0 })
})

test('a batch that fails every attempt is given up and counted, and the next one is stored', async () => {
  const { buffer, stored, clock, breakFor, logged } = setUp({ batchEvents: 2 })
  breakFor('view', 500)
  for (const event of times(2, () => aView())) buffer.add('view', event)
  for (const _ of times(500, () => 0)) {
    await settled()
    clock.pass()
  }
  for (const event of times(2, () => aView())) buffer.add('view', event)
  await buffer.flush()
  assert.deepEqual(stored(), ['view 2'])
  assert.equal(buffer.stats().view.lost, 2)
  assert.equal(logged().filter((line) => line.startsWith('error')).length, 1)
})

test('closing while the store fails ends after a few attempts', async () => {
  const { buffer, clock, breakFor } = setUp()
  breakFor('view', 1000)
  buffer.add('view', aView())
  const closed = buffer.close()
  for (const _ of times(3, () => 0)) {
    await settled()
    clock.pass()
  }
  await closed
  assert.deepEqual(buffer.stats().view, { pending: 0, stored: 0, dropped: 0, lost: 1, failedAttempts: 3 })
})

test('a retried batch has the same ID, and every batch has a unique ID', async () => {
  const { buffer, tried, clock, breakFor } = setUp({ batchEvents: 1 })
  breakFor('download', 1)
  buffer.add('download', aDownload())
  buffer.add('download', aDownload())
  await settled()
  clock.pass()
  await buffer.flush()
  const [first, second, again] = tried()
  assert.equal(again, first)
  assert.notEqual(second, first)
  assert.equal(tried().length, 3)
})

test('flushing and closing wait until what was stored has taken effect', async () => {
  const settling = Promise.withResolvers<void>()
  const { buffer, stored } = setUp({ settling: settling.promise })
  buffer.add('view', aView())
  let isFlushed = false
  const flushed = buffer.flush().then(() => {
    isFlushed = true
  })
  await settled()
  assert.deepEqual([stored(), isFlushed], [['view 1'], false])
  settling.resolve()
  await flushed
  await buffer.close()
})

test('texts are cut to their length and made well-formed before they take up memory', async () => {
  const { buffer, store } = setUp()
  buffer.add('view', aView({ site_path: `/${'x'.repeat(10_000)}`, domain: 'a\uD800b\0', country: 'nowhere' }))
  await buffer.close()
  const request = { metric: 'project_views', sources: ['Lantern1'], filterBy: {} } as const
  const [part] = await store.query({
    grid: sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 }),
    metrics: [{ ...request, bucketBy: ['domain', 'site_path', 'country'] }],
  })
  const [{ domain, site_path, country } = {}] = part?.slices[0] ?? []
  assert.deepEqual([domain, String(site_path).length, country], ['a\uFFFDb', 512, 'XX'])
})

/** Creates a buffer over the naive store, with a clock and failures that the test controls. */
function setUp(
  given: {
    batchEvents?: number
    capacity?: number
    settling?: Promise<void>
    appendMs?: number
    isSerial?: boolean
  } = {},
) {
  const { appendMs = 0, isSerial = false, settling, ...options } = given
  const store = openNaiveStore()
  const clock = controlledClock()
  const failures = new Map<EventKind, number>()
  const stored: { kind: EventKind; events: number; at: number }[] = []
  const logged: string[] = []
  const tried: string[] = []

  let current: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  /** Joins the next commit, which begins when the current one has ended. */
  const commit = (): Promise<void> => {
    next ??= current.then(async () => {
      // Calls of the same turn of the event loop join.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
      current = next ?? current
      next = undefined
      await clock.sleep(appendMs)
    })
    return next
  }
  const append: AnalyticsStore['append'] = async (kind, batch) => {
    tried.push(batch.id)
    const left = failures.get(kind) ?? 0
    failures.set(kind, left - 1)
    if (left > 0) throw new Error('The store is unavailable')
    if (isSerial) await commit()
    else if (appendMs > 0) await clock.sleep(appendMs)
    stored.push({ kind, events: batch.events.length, at: clock.now() })
    return store.append(kind, batch)
  }
  const buffer = createEventBuffer({
    sink: { append, settled: async () => settling },
    log: {
      warn: (_, message) => void logged.push(`warn ${message}`),
      error: (_, message) => void logged.push(`error ${message}`),
    },
    now: clock.now,
    wait: clock.wait,
    ...options,
  })
  async function viewCount(): Promise<number> {
    const request = { metric: 'project_views', sources: ['Lantern1'], bucketBy: [], filterBy: {} } as const
    const [part] = await store.query({ grid: sliceGrid(NOON, NOON + HOUR_MS, { slices: 1 }), metrics: [request] })
    const [{ views } = {}] = part?.slices[0] ?? []
    return Number(views ?? 0)
  }
  return {
    buffer,
    store,
    viewCount,
    stored: () => stored.map(({ kind, events }) => `${kind} ${events}`),
    /** The time at which each event of the kind was stored. */
    storedAt: (kind: EventKind) =>
      stored.filter((batch) => batch.kind === kind).flatMap(({ events, at }) => times(events, () => at)),
    logged: () => logged,
    tried: () => tried,
    breakFor: (kind: EventKind, attempts: number) => failures.set(kind, attempts),
    clock: { ...clock, appends: () => stored.length },
  }
}

function controlledClock() {
  const waits: number[] = []
  const waiting: { at: number; resolve: () => void }[] = []
  let time = 0
  const now = (): number => time
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => waiting.push({ at: time + ms, resolve }))
  return {
    now,
    sleep,
    waits: () => waits,
    wait: async (ms: number, signal: AbortSignal): Promise<void> => {
      if (signal.aborted) return
      waits.push(ms)
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      await Promise.race([sleep(ms), aborted])
    },
    /** Ends every wait. */
    pass: () => {
      for (const { at, resolve } of waiting.splice(0)) {
        time = Math.max(time, at)
        resolve()
      }
    },
    /** Ends the waits of the next `ms` milliseconds, each at its time. */
    async advance(ms: number): Promise<void> {
      const until = time + ms
      for (;;) {
        await settled()
        const next = waiting.toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined || next.at > until) break
        waiting.splice(waiting.indexOf(next), 1)
        time = next.at
        next.resolve()
      }
      time = until
    },
  }
}

/** Waits until all pending promises that can settle have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
