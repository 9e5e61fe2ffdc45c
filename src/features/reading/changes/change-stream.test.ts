import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { createEventStream } from './change-stream.ts'

let t: TestApp
let owner: Person
let address: string
before(async () => {
  t = await testApp()
  owner = await t.make.account()
  // The database of a test is a copy, so that the first change begins an epoch.
  await t.make.project({ owner })
  await t.anyone.get('/v3/changes')
  address = await t.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => t.close())

type Event = { id?: string; event?: string; data?: string; retry?: string; comment?: string }

async function* events(response: Response): AsyncGenerator<Event> {
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString()
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      yield Object.fromEntries(
        lines.map((line) => {
          const [, name, value] = /^(\w*): (.*)$/.exec(line) ?? []
          return [name === '' ? 'comment' : name, value]
        }),
      ) as Event
    }
  }
}

async function open(query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const closing = new AbortController()
  const response = await fetch(`${address}/v3/changes/stream?${new URLSearchParams(query)}`, {
    signal: closing.signal,
    headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY, 'accept-encoding': 'gzip', ...headers },
  })
  const list = events(response)
  const next = async (): Promise<Event> => {
    for (;;) {
      const { value, done } = await list.next()
      if (done === true) return { event: 'end' }
      if (value.comment === undefined) return value
    }
  }
  return { response, next, close: () => closing.abort() }
}

const latest = async (): Promise<string> => (await t.anyone.get('/v3/changes', { query: { limit: 1 } })).json().latest

test('a stream sends what changes, with the cursors of the list, and continues after the last event', async () => {
  const stream = await open({ kinds: '["project"]' })
  assert.deepEqual(
    ['content-type', 'cache-control', 'x-accel-buffering', 'content-encoding'].map((name) =>
      stream.response.headers.get(name),
    ),
    ['text/event-stream; charset=utf-8', 'no-store', 'no', null],
  )
  assert.deepEqual(await stream.next(), { retry: '5000' })
  const project = await t.make.project({ owner })
  const change = await stream.next()
  const { id, kind, state, revision } = JSON.parse(change.data ?? '{}')
  assert.deepEqual([change.event, kind, id, state], ['change', 'project', project.id, 'present'])
  assert.ok(revision >= 1)
  stream.close()

  const second = await t.make.project({ owner })
  const { json } = await t.anyone.get('/v3/changes', { query: { since: change.id ?? '', kinds: '["project"]' } })
  const expected = json().changes.map((entry: { cursor: string; id: string }) => [entry.cursor, entry.id])
  const again = await open({ since: '00000000-0', kinds: '["project"]' }, { 'last-event-id': change.id ?? '' })
  await again.next()
  const missed = await again.next()
  assert.deepEqual([[missed.id, JSON.parse(missed.data ?? '{}').id]], expected)
  assert.equal(expected[0][1], second.id)
  again.close()
})

test('an expired cursor ends the stream with a reason, at its start and later', async () => {
  const stream = await open({ since: '00000000-0' })
  await stream.next()
  const expired = { event: 'expired', data: JSON.stringify({ reason: 'epoch', start: '/v3/changes' }) }
  assert.deepEqual([await stream.next(), await stream.next()], [expired, { event: 'end' }])
  const later = await open({ since: await latest() })
  await later.next()
  await t.deps.pool.query('select rebuild_public_changes()')
  assert.deepEqual([await later.next(), await later.next()], [expired, { event: 'end' }])
})

test('a client can have 4 streams; closed ones do not count', async () => {
  const streams = await Promise.all([open(), open(), open(), open()])
  const fifth = await t.anyone.get('/v3/changes/stream')
  assertError(fifth, 429, 'ratelimit_error')
  assert.ok(Number(fifth.headers['retry-after']) > 0)
  for (const stream of streams) stream.close()
  for (;;) {
    const { response, close } = await open()
    close()
    if (response.status === 200) break
  }
})

test('a client that accepts no data is disconnected after 10 seconds', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { stream, send } = createEventStream()
  let isSent = false
  const sending = send('x'.repeat(1_000_000)).then(() => {
    isSent = true
  })
  context.mock.timers.tick(9_999)
  await Promise.resolve()
  assert.deepEqual([isSent, stream.destroyed], [false, false])
  stream.read()
  await sending
  const stalled = send('x'.repeat(1_000_000))
  context.mock.timers.tick(10_000)
  await stalled
  assert.equal(stream.destroyed, true)
  await send('more')
})

test('HEAD answers without a stream', async () => {
  for (let n = 0; n < 6; n += 1) {
    const response = await fetch(`${address}/v3/changes/stream`, {
      method: 'HEAD',
      headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY },
    })
    assert.equal(response.status, 200)
  }
})

test('a client that goes away without closing its stream, and a server that stops, leave nothing open', async () => {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(
    `GET /v3/changes/stream HTTP/1.1\r\nHost: x\r\nUser-Agent: depot-tests/1.0\r\nX-RateLimit-Key: ${BYPASS_KEY}\r\n\r\n`,
  )
  await once(socket, 'data')
  socket.destroy()
  const stream = await open()
  await stream.next()
  const end = stream.next()
  await t.app.close()
  assert.deepEqual(await end, { event: 'end' })
})
