import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { createMemoryCounters } from '#ports/counters/memory/memory-counters.ts'
import { createSignInGuard, signInGuess } from './sign-in-guard.ts'

/** Guards of as many processes, which share their counters. */
function guards(processes: number) {
  const counters = createMemoryCounters({ now: () => 1_000_000 })
  const telemetry = { log: silentLog(), metrics: createMetrics({ process: false }) }
  return Array.from({ length: processes }, () => createSignInGuard({ counters, ...telemetry }))
}

const guessOf = (name: string, address = '192.0.2.1', isKnown = false) =>
  signInGuess({ account: `name:${name}`, address, isKnown, what: 'password' })

const kindOf = (error: unknown) => (error instanceof ApiError ? error.kind : String(error))

test('of parallel guesses in several processes ten are looked at, whatever they are', async () => {
  const all = guards(12)
  let looked = 0
  const waiting = Promise.withResolvers<void>()
  const guess = (i: number) =>
    all[i % all.length]
      ?.attempt(guessOf('a'), 'No', async () => {
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
    assert.equal(await guard.attempt(guessOf('b'), 'No', async () => 'session'), 'session')
    await assert.rejects(
      guard.attempt(guessOf('b'), 'No', async () => {
        throw new Error('the database disconnected')
      }),
      /the database disconnected/,
    )
  }
  for (let i = 0; i < 10; i += 1)
    assert.equal(await guard.attempt(guessOf('b'), 'No', async () => undefined).catch(kindOf), 'invalid_credentials')
  assert.equal(await guard.attempt(guessOf('b'), 'No', async () => 'session').catch(kindOf), 'ratelimit_error')
  await guard.forgive(guessOf('b'))
  assert.equal(await guard.attempt(guessOf('b'), 'No', async () => 'session'), 'session')
})

test('guesses from many addresses count together, except from an address that a session has used', async () => {
  const [guard] = guards(1)
  assert.ok(guard)
  const from = (n: number, isKnown = false) => guessOf('c', `192.0.2.${n}`, isKnown)
  const outcomes: unknown[] = []
  for (let n = 1; n <= 11; n += 1) {
    for (let i = 0; i < 10; i += 1)
      outcomes.push(await guard.attempt(from(n), 'No', async () => undefined).catch(kindOf))
  }
  assert.equal(outcomes.filter((problem) => problem === 'invalid_credentials').length, 100)
  assert.equal(await guard.attempt(from(200), 'No', async () => 'session').catch(kindOf), 'ratelimit_error')
  assert.equal(await guard.attempt(from(201, true), 'No', async () => 'session'), 'session')
})
