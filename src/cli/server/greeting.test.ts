// The greeting and the log at a terminal: only paths and URLs wrap, and secrets are hidden.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '#platform/config/load-config.ts'
import { textLine } from '#platform/telemetry/log-text.ts'
import { type Greeting, greeting } from './greeting.ts'

const text = (env: Record<string, string>, of: Partial<Greeting> = {}): string =>
  greeting({
    config: loadConfig({ DATA_DIR: '/srv/depot', ...env }),
    url: 'http://127.0.0.1:8080',
    databaseFolder: '/srv/depot/postgres',
    firstAdmin: undefined,
    isEmpty: false,
    isQuiet: false,
    colour: false,
    ...of,
  })

test('an empty instance shows its locations, the email delivery and the next steps', () => {
  const shown = text({}, { isEmpty: true, isQuiet: true, firstAdmin: 'a-secret' })
  for (const part of [
    'Depot listens on http://127.0.0.1:8080\n',
    '/srv/depot\n',
    '/srv/depot/outbox\n',
    'depot seed',
    'This copy of the instance is quiet',
    'depot resume',
    'http://127.0.0.1:8080/account/first-admin?flow=a-secret\n',
  ])
    assert.ok(shown.includes(part), `${part} in ${shown}`)
  assert.doesNotMatch(shown, /BASE_URL|not in the data folder/)
})

test('an instance with an admin and projects is greeted with where it is', () => {
  const shown = text({ SMTP_URL: 'smtp://user:hidden@mail.test', MAIL_FROM: 'Depot <a@mail.test>' })
  assert.doesNotMatch(shown, /first-admin|seed|hidden/)
  assert.match(shown, /sent through SMTP_URL from Depot <a@mail.test>/)
})

test('a database elsewhere and a guessed address cannot be missed', () => {
  const shown = text({ HOST: '0.0.0.0' }, { databaseFolder: '/var/lib/depot/database-x/postgres' })
  assert.match(shown, /\/var\/lib\/depot\/database-x\/postgres\n.*not in the data folder/)
  assert.match(shown, /BASE_URL is not set/)
})

test('names external services without their secrets', () => {
  const shown = text({
    DATABASE_URL: 'postgres://depot:hidden@db.test/depot',
    S3_BUCKET: 'depot-files',
    OPENSEARCH_URL: 'https://depot:hidden@search.test',
    CLICKHOUSE_URL: 'https://depot:hidden@events.test/depot',
    REDIS_URL: 'redis://:hidden@counters.test',
  })
  assert.doesNotMatch(shown, /hidden/)
  for (const part of ['DATABASE_URL', 'depot-files', 'OPENSEARCH_URL', 'CLICKHOUSE_URL', 'REDIS_URL'])
    assert.ok(shown.includes(part), part)
})

test('only paths and addresses are longer than a terminal is wide', () => {
  const shown = text({ HOST: '0.0.0.0' }, { isEmpty: true, firstAdmin: 'x'.repeat(54), databaseFolder: '/elsewhere' })
  const long = shown.split('\n').filter((line) => line.length > 80)
  assert.deepEqual(
    long.filter((line) => !/^\s+http\S+$/.test(line)),
    [],
  )
})

test('colours are written only where they are wanted', () => {
  assert.ok(!text({}).includes('\u001b'))
  assert.ok(text({}, { colour: true }).includes('\u001b[32m'))
})

test('a log line as text: time, level unless it is info, message, stack; no control characters', () => {
  const line = (event: object): string =>
    textLine(JSON.stringify({ time: '2026-01-02T03:04:05.678Z', ...event }), { colour: false })
  assert.equal(line({ level: 'info', msg: 'Depot is ready' }), '03:04:05 Depot is ready\n')
  assert.equal(line({ level: 'warn', msg: 'A job failed' }), '03:04:05 warn A job failed\n')
  const request = { level: 'info', msg: 'request', method: 'GET', route: '/v3/user', status: 200, duration_ms: 1.5 }
  assert.equal(line(request), '03:04:05 GET /v3/user 200 1.5 ms\n')
  assert.equal(line({ level: 'info', msg: 'a\u001b[2J\rb' }), '03:04:05 a [2J b\n')
  assert.match(
    line({ level: 'error', msg: 'Lost', err: { stack: 'Error: gone\n    at x' } }),
    /Lost\nError: gone\n {4}at x\n$/,
  )
  assert.equal(textLine('no JSON\n', { colour: false }), 'no JSON\n')
  assert.ok(textLine(JSON.stringify({ level: 'error', msg: 'x' }), { colour: true }).includes('\u001b[31merror'))
})
