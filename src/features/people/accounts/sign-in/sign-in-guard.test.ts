import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'
import { createSignInGuard } from './sign-in-guard.ts'

/** Guards of as many processes, which share their counters. */
function guards(processes: number) {
  const counters = createMemoryCounters({ now: () => 1_000_000 })
  const telemetry = { log: silentLog(), metrics: createMetrics({ process: false }) }
  return Array.from({ length: processes }, () => createSignInGuard({ counters, ...telemetry }))
}

const kindOf = (error: unknown) => (error instanceof ApiError ? error.kind : String(error))

test('of parallel guesses in several processes ten are looked at, whatever they are', async () => {
  const all = guards(12)
  let looked = 0
  const waiting = Promise.withResolvers<void>()
  const guess = (i: number) =>
    all[i % all.length]
      ?.attempt('name:a', 'No', async () => {
        looked += 1
        if (looked === 10) waiting.resolve()
        // Nobody learns the outcome before all that may be looked at are.
        await waiting.promise
        return undefined
      })
      .catch(kindOf)
  const outcomes = await Promise.all(Array.from({ length: 120 }, (_, i) => guess(i)))
  assert.equal(looked, 10)
  assert.equal(outcomes.filter((problem) => problem === 'invalid_credentials').length, 10)
  assert.equal(outcomes.filter((problem) => problem === 'ratelimit_error').length, 110)
})

test('tries that are right, or that fail for another reason, leave no count', async () => {
  const [guard] = guards(1)
  assert.ok(guard)
  for (let i = 0; i < 30; i += 1) {
    assert.equal(await guard.attempt('name:b', 'No', async () => 'session'), 'session')
    await assert.rejects(
      guard.attempt('name:b', 'No', async () => {
        throw new Error('the database disconnected')
      }),
      /the database disconnected/,
    )
  }
  for (let i = 0; i < 10; i += 1) {
    assert.equal(await guard.attempt('name:b', 'No', async () => undefined).catch(kindOf), 'invalid_credentials')
  }
  assert.equal(await guard.attempt('name:b', 'No', async () => 'session').catch(kindOf), 'ratelimit_error')
  await guard.forgive('name:b')
  assert.equal(await guard.attempt('name:b', 'No', async () => 'session'), 'session')
})
