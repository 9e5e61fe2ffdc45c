import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLogTo } from '#telemetry/log.ts'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { sharedChecks } from './readiness.ts'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t.close())

test('those who ask at once share one round of checks, and the reason of a failure goes to the log alone', async () => {
  let rounds = 0
  const logged: string[] = []
  const log = createLogTo({ write: (line) => void logged.push(line) }, 'warn')
  const check = () => {
    rounds += 1
    throw new Error('counters.internal:6379 is gone')
  }
  const checks = sharedChecks({ ...t.deps, log, counters: { ...t.deps.counters, check } })
  const [first, second] = await Promise.all([checks(), checks()])
  await checks()
  assert.equal(rounds, 1)
  assert.equal(first, second)
  assert.deepEqual([first.status, first.dependencies['database']?.status], ['unavailable', 'ok'])
  assert.match(logged.join(), /"dependency":"counters","reason":"counters\.internal:6379 is gone"/)
})

test('/ready tells each dependency and its state, and no more', async () => {
  const answer = (await t.anyone.get('/ready')).json()
  assert.deepEqual(Object.keys(answer.dependencies).sort(), [
    'analytics',
    'counters',
    'database',
    'files',
    'mail',
    'search',
  ])
  for (const state of Object.values<object>(answer.dependencies)) {
    assert.deepEqual(
      Object.keys(state).filter((key) => key !== 'status' && key !== 'state'),
      [],
    )
  }
})
