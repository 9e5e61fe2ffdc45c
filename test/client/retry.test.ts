// Retries of the client: the repeated requests, the pauses and the last error.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { createDepot, type Depot, DepotError, Form, type RetryOptions } from '#client/index.ts'
import { type Respond, type StandIn, sendJson, standIn } from './stand-in.ts'

const servers: StandIn[] = []
after(() => {
  for (const server of servers) server.close()
})

let pauses: number[]
let reasons: string[]
beforeEach(() => {
  pauses = []
  reasons = []
})

async function open(respond: Respond, retry: RetryOptions = {}): Promise<{ server: StandIn; depot: Depot }> {
  const server = await standIn(respond)
  servers.push(server)
  const onRetry: RetryOptions['onRetry'] = ({ seconds, reason }) => {
    pauses.push(seconds)
    reasons.push(reason)
  }
  return { server, depot: createDepot({ url: `${server.url}/`, userAgent: 'test/1.0', retry: { onRetry, ...retry } }) }
}

/** Answers with these functions in turn, then with the last one. */
function inTurn(...answers: Respond[]): Respond {
  let count = 0
  return (...args) => answers[Math.min(count++, answers.length - 1)]?.(...args)
}

const project: Respond = (_, response) => sendJson(response, 200, { id: 'AABBCCDD' })
const failWith =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (_, response) =>
    sendJson(response, status, { error: 'service_unavailable', description: 'Not now' }, headers)
const hangUp: Respond = (_, response) => response.destroy()
const read = (depot: Depot) => depot.get('/v3/project/{id}', { params: { path: { id: 'lantern' } } })
const write = (depot: Depot) =>
  depot.patch('/v3/project/{id}', { params: { path: { id: 'lantern' } }, body: { summary: 'New' } })

describe('a limit with Retry-After', () => {
  for (const status of [429, 503]) {
    test(`${status} is repeated after the time that the server states, also for writes`, async () => {
      const { server, depot } = await open(
        inTurn(failWith(status, { 'retry-after': '0' }), (_, res) => res.writeHead(204).end()),
      )
      assert.equal(await write(depot), undefined)
      assert.deepEqual(server.requests, ['PATCH /v3/project/lantern', 'PATCH /v3/project/lantern'])
      assert.deepEqual(pauses, [0])
    })
  }

  test('a date is a time to wait, too', async () => {
    const past = new Date(Date.now() - 1000).toUTCString()
    const { depot } = await open(inTurn(failWith(429, { 'retry-after': past }), project))
    assert.equal((await read(depot)).id, 'AABBCCDD')
    assert.deepEqual(pauses, [0])
  })

  test('a pause longer than the maximum is an error immediately', async () => {
    const { server, depot } = await open(failWith(429, { 'retry-after': '61' }))
    await assert.rejects(read(depot), (error: DepotError) => error.status === 429 && error.retryAfter === 61)
    assert.equal(server.requests.length, 1)
  })
})

describe('failures without a time to wait', () => {
  for (const [name, failure] of [
    ['a lost connection', hangUp],
    ['502', failWith(502)],
    ['504', failWith(504)],
  ] as const) {
    test(`${name} is repeated for a read`, async () => {
      const { depot } = await open(inTurn(failure, project))
      assert.equal((await read(depot)).id, 'AABBCCDD')
      assert.equal(pauses.length, 1)
      assert.ok((pauses[0] ?? 0) >= 0.25 && (pauses[0] ?? 9) <= 0.75)
    })

    test(`${name} is not repeated for a write`, async () => {
      const { server, depot } = await open(failure)
      await assert.rejects(write(depot))
      assert.equal(server.requests.length, 1)
    })
  }

  test('a POST that only reads is repeated with its body', async () => {
    const bodies: string[] = []
    const { depot } = await open(
      inTurn(hangUp, (_, response, body) => {
        bodies.push(body.toString())
        sendJson(response, 200, {})
      }),
    )
    await depot.post('/v3/version_files', { body: { hashes: ['ab'.repeat(20)], algorithm: 'sha1' } })
    assert.deepEqual(bodies, [JSON.stringify({ hashes: ['ab'.repeat(20)], algorithm: 'sha1' })])
  })

  test('the attempts are limited', async () => {
    const { server, depot } = await open(failWith(503, { 'retry-after': '0' }))
    await assert.rejects(read(depot), (error: DepotError) => error.error === 'service_unavailable')
    assert.equal(server.requests.length, 4)
    assert.deepEqual(reasons, ['HTTP 503', 'HTTP 503', 'HTTP 503'])
  })

  test('errors of the request are not repeated', async () => {
    for (const status of [400, 401, 403, 404, 409, 500]) {
      const { server, depot } = await open(failWith(status))
      await assert.rejects(read(depot), (error: DepotError) => error.status === status)
      assert.equal(server.requests.length, 1)
    }
  })
})

test('the form of a request is sent again completely', async () => {
  const sizes: number[] = []
  const { depot } = await open(
    inTurn(
      (...args) => {
        sizes.push(args[2].length)
        failWith(429, { 'retry-after': '0' })(...args)
      },
      (_, response, body) => {
        sizes.push(body.length)
        sendJson(response, 201, { id: 'EEFFGGHH' })
      },
    ),
  )
  const form = new Form({ project_id: 'AABBCCDD', status: 'draft' as const }, { file: new Blob(['x'.repeat(100_000)]) })
  assert.equal((await depot.post('/v3/version', { body: form })).id, 'EEFFGGHH')
  assert.equal(sizes[0], sizes[1])
  assert.ok((sizes[0] ?? 0) > 100_000)
})

test('a signal ends a request and a pause', async () => {
  const controller = new AbortController()
  const { server, depot } = await open(failWith(503, { 'retry-after': '30' }), {
    onRetry: () => controller.abort(new Error('enough')),
  })
  const init = { params: { path: { id: 'lantern' } }, signal: controller.signal }
  await assert.rejects(depot.get('/v3/project/{id}', init), /enough/)
  assert.equal(server.requests.length, 1)
  await assert.rejects(depot.get('/v3/project/{id}', init), /enough/)
  assert.equal(server.requests.length, 1)
})

test('a response that is not from Depot is an error, too', async () => {
  const { depot } = await open((_, response) => response.writeHead(418).end('<h1>proxy</h1>'))
  await assert.rejects(read(depot), (error: DepotError) => {
    assert.ok(error instanceof DepotError)
    assert.deepEqual([error.status, error.error, error.errors], [418, 'unknown', []])
    return true
  })
})

test('the client sends its token and its name, and asks a function for the token each time', async () => {
  const seen: unknown[] = []
  const server = await standIn((request, response) => {
    seen.push([request.headers.authorization, request.headers['user-agent']])
    sendJson(response, 200, {})
  })
  servers.push(server)
  let n = 0
  const depot = createDepot({ url: server.url, userAgent: 'test/1.0', token: () => `token-${++n}` })
  await read(depot)
  await read(depot)
  assert.deepEqual(seen, [
    ['Bearer token-1', 'test/1.0'],
    ['Bearer token-2', 'test/1.0'],
  ])
})

test('an error of the function that returns the token is not repeated', async () => {
  const server = await standIn(project)
  servers.push(server)
  let calls = 0
  const token = () => {
    calls += 1
    return Promise.reject(new Error('No token'))
  }
  const depot = createDepot({ url: server.url, userAgent: 'test/1.0', token })
  await assert.rejects(read(depot), /No token/)
  await assert.rejects(depot.upload(new File(['x'], 'x.jar')), /No token/)
  assert.deepEqual([calls, server.requests], [2, []])
})
