import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimiter } from './limiter.ts'

/** Work that ends on command and notes when it starts. */
function controlled(limiter: ReturnType<typeof createLimiter>) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const results = new Map<string, Promise<string>>()
  return {
    started,
    ask(name: string, caller?: string) {
      const result = limiter.run(() => {
        started.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }, caller)
      result.catch(() => {})
      results.set(name, result)
      return result
    },
    async end(name: string) {
      ends.get(name)?.()
      await results.get(name)
    },
  }
}

test('limits concurrent work and serves one caller in order', async () => {
  const work = controlled(createLimiter({ running: 2, waiting: 10 }))
  for (const name of ['a', 'b', 'c', 'd']) void work.ask(name)
  assert.deepEqual(work.started, ['a', 'b'])
  await work.end('b')
  assert.deepEqual(work.started, ['a', 'b', 'c'])
  await work.end('a')
  assert.deepEqual(work.started, ['a', 'b', 'c', 'd'])
})

test('work that fails frees its place', async () => {
  const limiter = createLimiter({ running: 1, waiting: 10 })
  const first = limiter.run(() => Promise.reject(new Error('broken')))
  const second = limiter.run(async () => 'fine')
  await assert.rejects(first, /broken/)
  assert.equal(await second, 'fine')
  assert.equal(limiter.waiting, 0)
})

test('callers take turns, however many tasks one of them has', async () => {
  const work = controlled(createLimiter({ running: 1, waiting: 100 }))
  for (let i = 0; i < 5; i++) void work.ask(`loud ${i}`, 'loud')
  void work.ask('quiet', 'quiet')
  await work.end('loud 0')
  await work.end('loud 1')
  assert.deepEqual(work.started, ['loud 0', 'loud 1', 'quiet'])
})

test('a caller with too much waiting is rejected with 503 and the time to come back', async () => {
  const work = controlled(createLimiter({ running: 1, waiting: 100, waitingPerCaller: 1 }))
  void work.ask('runs', 'loud')
  void work.ask('waits', 'loud')
  await assert.rejects(work.ask('refused', 'loud'), { status: 503, headers: { 'retry-after': '1' } })
  void work.ask('other', 'quiet')
  await work.end('runs')
  await work.end('waits')
  assert.deepEqual(work.started, ['runs', 'waits', 'other'])
})

test('one caller cannot keep the others from waiting', async () => {
  const limiter = createLimiter({ running: 1, waiting: 3 })
  const work = controlled(limiter)
  void work.ask('runs', 'loud')
  const newest = ['w1', 'w2', 'w3'].map((name) => work.ask(name, 'loud')).at(-1)
  void work.ask('quiet', 'quiet')
  await assert.rejects(newest ?? assert.fail('no request'), { status: 503 })
  await work.end('runs')
  await work.end('w1')
  assert.deepEqual(work.started, ['runs', 'w1', 'quiet'])
})

test('an error of the caller’s own choice', async () => {
  const limiter = createLimiter({ running: 1, waiting: 0, refuse: () => new RangeError('full') })
  void limiter.run(() => new Promise(() => {}))
  await assert.rejects(
    limiter.run(async () => {}),
    RangeError,
  )
})
