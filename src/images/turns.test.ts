import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

/** Work that ends when told to. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return { promise, resolve, reject }
}

test('no more work runs at once than allowed, and the line is served in order', async () => {
  const turns = createTurns(2, 10)
  const jobs = Array.from({ length: 5 }, work)
  const started: number[] = []
  const results = jobs.map((job, i) =>
    turns(() => {
      started.push(i)
      return job.promise
    }),
  )
  assert.deepEqual(started, [0, 1])
  jobs[1]?.resolve('one')
  assert.equal(await results[1], 'one')
  assert.deepEqual(started, [0, 1, 2])
  for (const [i, job] of jobs.entries()) job.resolve(String(i))
  assert.deepEqual(await Promise.all(results), ['0', 'one', '2', '3', '4'])
})

test('work that fails hands its turn on', async () => {
  const turns = createTurns(1, 10)
  const first = turns(() => Promise.reject(new Error('broken')))
  const second = turns(async () => 'fine')
  await assert.rejects(first, /broken/)
  assert.equal(await second, 'fine')
})

test('a full line refuses with a time to come back', async () => {
  const turns = createTurns(1, 1)
  const job = work()
  const running = turns(() => job.promise)
  const waiting = turns(async () => 'second')
  await assert.rejects(
    turns(async () => 'third'),
    { fault: 'ratelimit_error', headers: { 'Retry-After': '1' } },
  )
  job.resolve('first')
  assert.deepEqual(await Promise.all([running, waiting]), ['first', 'second'])
})
