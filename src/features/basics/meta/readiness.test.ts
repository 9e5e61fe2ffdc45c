import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createPool } from '#platform/db/db.ts'
import { createLogTo } from '#platform/telemetry/log.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { sharedChecks } from './readiness.ts'

const t = await testApp()
after(() => t.close())

test('concurrent requests share one round of checks, and only the log contains the reason of a failure', async () => {
  let rounds = 0
  const logged: string[] = []
  const log = createLogTo({ write: (line) => void logged.push(line) }, 'warn')
  const check = () => {
    rounds += 1
    throw new Error('counters.internal:6379 is unreachable')
  }
  const checks = sharedChecks({ ...t.deps, log, counters: { ...t.deps.counters, check } })
  const [first, second] = await Promise.all([checks(), checks()])
  await checks()
  assert.equal(rounds, 1)
  assert.equal(first, second)
  assert.deepEqual([first.status, first.dependencies['database']?.status], ['degraded', 'ok'])
  assert.match(logged.join(), /"dependency":"counters","reason":"counters\.internal:6379 is unreachable"/)
})

test('/ready returns only each dependency and its state', async () => {
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

test('a check that takes its time is slow, which is ready; one that never ends is lost', async () => {
  const log = createLogTo({ write: () => undefined }, 'silent')
  const pending = Promise.withResolvers<undefined>()
  let calls = 0
  const check = () => {
    calls += 1
    return pending.promise
  }
  // The other checks succeed immediately, however busy the machine is.
  const works = { check: async () => undefined } as never
  const client = { query: async () => undefined, release: () => undefined }
  const deps = {
    ...t.deps,
    ...{ log, files: works, analytics: works, counters: works },
    pool: { connect: async () => client } as never,
    search: { state: async () => ({ state: 'ready' }) } as never,
    mail: { ...t.deps.mail, check: check as never },
  }
  const slow = await sharedChecks(deps, { slowMs: 50, lostMs: 3_600_000 })()
  assert.deepEqual([slow.status, slow.dependencies['mail']?.status], ['ready', 'slow'])
  const checks = sharedChecks(deps, { slowMs: 50, lostMs: 50 })
  const lost = await checks()
  assert.deepEqual([lost.status, lost.dependencies['mail']?.status], ['degraded', 'degraded'])
  assert.match(lost.dependencies['mail']?.error ?? '', /no response within 50 ms/)
  await checks('balancer')
  assert.equal(calls, 2, 'a check that still runs is not begun again')
})

test('a processor that is busy for longer than the limit is not a lost dependency', async () => {
  const checks = sharedChecks(t.deps, { slowMs: 400, lostMs: 1_000, silentMs: 1_000 })
  for (const audience of [undefined, 'balancer'] as const) {
    const answer = checks(audience)
    const until = performance.now() + 1_500
    while (performance.now() < until);
    assert.equal((await answer).status, 'ready')
  }
})

test('a damaged analytics file is degraded, and requests are served; without database or files they are not', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'depot-readiness-'))
  await mkdir(join(dataDir, 'analytics'))
  await writeFile(join(dataDir, 'analytics/events.duckdb'), 'not a database '.repeat(1_000))
  const damaged = await testApp({ env: { DATA_DIR: dataDir } })
  try {
    const answer = await damaged.anyone.get('/ready')
    assert.deepEqual([answer.statusCode, answer.json().status], [200, 'degraded'])
    assert.deepEqual(answer.json().dependencies.analytics, { status: 'degraded' })
    assert.match(await damaged.deps.metrics.registry.metrics(), /^depot_damaged\{part="events"\} 1$/m)
    assert.equal((await damaged.anyone.get('/v3/games')).statusCode, 200)
  } finally {
    await damaged.close()
    await rm(dataDir, { recursive: true })
  }
  const log = createLogTo({ write: () => undefined }, 'silent')
  const lost = () => Promise.reject(new Error('lost'))
  const pool = createPool(
    { connectionString: 'postgres://127.0.0.1:1/none' },
    { max: 1, applicationName: 'depot-lost' },
  )
  for (const missing of [{ pool }, { files: { ...t.deps.files, check: lost } }])
    assert.equal((await sharedChecks({ ...t.deps, ...missing, log })()).status, 'unavailable')
  await pool.end()
})

test('the balancer check fails only for dependencies that every request needs', async () => {
  const log = createLogTo({ write: () => undefined }, 'silent')
  const check = () => {
    throw new Error('gone')
  }
  const checks = sharedChecks({ ...t.deps, log, mail: { ...t.deps.mail, check } })
  assert.equal((await checks()).status, 'degraded')
  const narrow = await checks('balancer')
  assert.deepEqual([narrow.status, Object.keys(narrow.dependencies)], ['ready', ['database', 'files']])
  const shared = { kind: 's3' } as typeof t.deps.config.files.store
  const config = { ...t.deps.config, files: { ...t.deps.config.files, store: shared } }
  const files = { ...t.deps.files, check }
  const withStore = await sharedChecks({ ...t.deps, log, config, files })('balancer')
  assert.deepEqual([withStore.status, Object.keys(withStore.dependencies)], ['ready', ['database']])
  const answer = await t.anyone.get('/ready?for=balancer')
  assert.deepEqual([answer.statusCode, Object.keys(answer.json().dependencies).sort()], [200, ['database', 'files']])
  const wrong = await t.anyone.get('/ready?for=nobody')
  assert.deepEqual([wrong.statusCode, wrong.json().details.field], [400, 'for'])
})
