import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#lib/errors.ts'
import { channelPair } from '#test/support/stand-ins/channel-pair.ts'
import type { Handlers } from './channel.ts'
import { createFrameReader, encodeFrame, FRAME_BYTES_MAX } from './frames.ts'

async function pair(t: TestContext, handlers: Handlers) {
  const opened = await channelPair(handlers)
  t.after(() => opened.close())
  return opened
}

test('frames cut at any place give the messages that were sent', () => {
  const message = fc.oneof(
    fc.string(),
    fc.uint8Array(),
    fc.record({ a: fc.integer(), b: fc.date({ noInvalidDate: true }) }, { noNullPrototype: true }),
  )
  fc.assert(
    fc.property(
      fc.array(fc.array(message)),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (lists, cuts) => {
        const bytes = Buffer.concat(lists.map(encodeFrame))
        const read = createFrameReader()
        const found: unknown[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1
          found.push(...read(bytes.subarray(at, at + size)))
          at += size
        }
        assert.deepEqual(found, lists.flat())
      },
    ),
  )
})

test('rejects an oversized frame before its content arrives, and sends no oversized frame', () => {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(FRAME_BYTES_MAX + 1)
  assert.throws(() => createFrameReader()(head), RangeError)
  assert.throws(() => encodeFrame([new Uint8Array(FRAME_BYTES_MAX)]), RangeError)
})

test('answers many concurrent calls correctly in any order', async (t) => {
  const { near } = await pair(t, {
    now: ([n]) => Number(n) * 2,
    later: async ([n]) => {
      await new Promise((resolve) => setImmediate(resolve))
      return new Map([[n, Buffer.from('bytes')]])
    },
  })
  const answers = await Promise.all(
    Array.from({ length: 2000 }, (_, n) => near.call(n % 3 === 0 ? 'later' : 'now', [n])),
  )
  for (const [n, answer] of answers.entries()) {
    if (n % 3 !== 0) assert.equal(answer, n * 2)
    else assert.deepEqual([...(answer as Map<number, Uint8Array>)], [[n, Buffer.from('bytes')]])
  }
})

test('errors keep their type', async (t) => {
  const { near } = await pair(t, {
    refuse: () => {
      throw new ApiError('conflict', 'Taken', { details: { field: 'slug' }, headers: { 'retry-after': '3' } })
    },
    range: () => {
      throw new RangeError('Too far')
    },
    fail: async () => {
      throw new Error('Broken', { cause: new Error('The disk') })
    },
  })
  await assert.rejects(near.call('refuse', []), (error: unknown) => {
    assert.ok(error instanceof ApiError)
    const { kind, message, details, headers } = error
    assert.deepEqual(
      { kind, message, details, headers },
      {
        kind: 'conflict',
        message: 'Taken',
        details: { field: 'slug' },
        headers: { 'retry-after': '3' },
      },
    )
    return true
  })
  await assert.rejects(near.call('range', []), RangeError)
  await assert.rejects(near.call('fail', []), (error: Error) => {
    assert.deepEqual([error.message, (error.cause as Error).message], ['Broken', 'The disk'])
    return true
  })
  await assert.rejects(near.call('toString', []), /does not offer toString/)
})

test('a value that cannot be sent fails without affecting other calls of the same turn', async (t) => {
  const { near } = await pair(t, { same: ([value]) => value, unsendable: () => () => {} })
  const [first, bad, tooLarge, badAnswer, last] = await Promise.allSettled([
    near.call('same', ['a']),
    near.call('same', [() => {}]),
    near.call('same', [new Uint8Array(FRAME_BYTES_MAX)]),
    near.call('unsendable', []),
    near.call('same', ['b']),
  ])
  assert.deepEqual(
    [first, last],
    [
      { status: 'fulfilled', value: 'a' },
      { status: 'fulfilled', value: 'b' },
    ],
  )
  assert.deepEqual([bad?.status, tooLarge?.status, badAnswer?.status], ['rejected', 'rejected', 'rejected'])
})

test('a call is given up by its signal or after its time, on both sides', async (t) => {
  const given: string[] = []
  const bothGivenUp = Promise.withResolvers<void>()
  const { near } = await pair(t, {
    hang: ([name], { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          given.push(String(name))
          if (given.length === 2) bothGivenUp.resolve()
        })
      }),
  })
  const controller = new AbortController()
  const aborted = near.call('hang', ['aborted'], { signal: controller.signal })
  controller.abort(new Error('Enough'))
  await assert.rejects(aborted, /Enough/)
  await assert.rejects(near.call('hang', ['late'], { timeoutMs: 1 }), { kind: 'service_unavailable' })
  await bothGivenUp.promise
  assert.deepEqual(given, ['aborted', 'late'])
})

test('rejects pending and later calls after the other side disconnects', async (t) => {
  const began = Promise.withResolvers<AbortSignal>()
  const { near, far, sockets } = await pair(t, {
    hang: (_args, { signal }) => {
      began.resolve(signal)
      return new Promise(() => {})
    },
  })
  const waiting = near.call('hang', [], { timeoutMs: Number.POSITIVE_INFINITY })
  waiting.catch(() => {})
  const signal = await began.promise
  sockets.near.destroy()
  await assert.rejects(waiting, { kind: 'service_unavailable' })
  await Promise.all([near.closed, far.closed])
  assert.ok(signal.aborted)
  await assert.rejects(near.call('hang', []), { kind: 'service_unavailable' })
})

test('invalid frames end the connection', async (t) => {
  const { near, far, sockets } = await pair(t, {})
  sockets.near.write(Buffer.concat([Buffer.from([5, 0, 0, 0]), Buffer.from('hello')]))
  await Promise.all([far.closed, near.closed])
})

test('a handler can call back the side that called it', async (t) => {
  const { near } = await pair(t, {
    ask: async ([n], { peer }) => Number(await peer.call('answer', [n])) + 1,
  })
  const withdraw = near.offer({ answer: ([n]) => Number(n) * 10 })
  assert.equal(await near.call('ask', [4]), 41)
  withdraw()
  await assert.rejects(near.call('ask', [4]), /does not offer answer/)
})

test('rejects calls beyond the maximum queue length immediately', async (t) => {
  const { near } = await pair(t, { hang: () => new Promise(() => {}) })
  const calls = Array.from({ length: 20_001 }, () => near.call('hang', []))
  for (const call of calls) call.catch(() => {})
  await assert.rejects(calls.at(-1) ?? Promise.resolve(), { kind: 'service_unavailable' })
})
