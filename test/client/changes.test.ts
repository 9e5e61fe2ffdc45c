// The client follows the change feed: the list, the stream, and the list again after failures and expired cursors.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Change, createDepot, type Depot, DepotError } from '#client/index.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { apiClient } from '#test/support/http/api-client.ts'
import { sendJson, standIn } from './stand-in.ts'

let t: TestApp
let depot: Depot
let owner: Person
before(async () => {
  t = await testApp()
  owner = await t.make.account()
  await t.make.project({ owner })
  await t.anyone.get('/v3/changes')
  const url = await t.app.listen({ port: 0, host: '127.0.0.1' })
  depot = apiClient(url, { headers: { 'x-ratelimit-key': BYPASS_KEY } })
})
after(() => t?.close())

const kinds = ['project'] as const

async function listAll(changes: AsyncGenerator<Change, void>): Promise<Change[]> {
  const all: Change[] = []
  for await (const change of changes) all.push(change)
  return all
}

async function nextOf(changes: AsyncGenerator<Change, void>): Promise<Change> {
  const { value } = await changes.next()
  assert.ok(value !== undefined)
  return value
}

test('the catalogue is read to its end; a cursor continues after a change', async () => {
  const second = await t.make.project({ owner })
  const all = await listAll(depot.changes({ kinds, follow: false }))
  assert.ok(all.length >= 2)
  assert.equal(all.at(-1)?.id, second.id)
  const rest = await listAll(depot.changes({ kinds, follow: false, since: all.at(-2)?.cursor ?? '' }))
  assert.deepEqual(
    rest.map(({ id }) => id),
    [second.id],
  )
})

test('new changes arrive as they happen, until the caller stops', async () => {
  const { latest } = await depot.get('/v3/changes')
  const changes = depot.changes({ kinds, since: latest })
  const first = nextOf(changes)
  const project = await t.make.project({ owner })
  assert.equal((await first).id, project.id)
  const other = await t.make.project({ owner })
  assert.equal((await nextOf(changes)).id, other.id)
  await changes.return()

  const stop = new AbortController()
  const endless = depot.changes({ since: latest, signal: stop.signal })
  await nextOf(endless)
  stop.abort(new Error('enough'))
  await assert.rejects(async () => {
    for await (const _ of endless);
  }, /enough/)
})

test('an expired cursor is an error, or begins at the start again', async () => {
  const since = '00000000-1'
  await assert.rejects(nextOf(depot.changes({ since })), (error: DepotError) => {
    assert.ok(error instanceof DepotError)
    return error.status === 410 && error.details['reason'] === 'epoch'
  })
  const reasons: string[] = []
  const changes = depot.changes({ kinds, since, follow: false, onExpired: (reason) => void reasons.push(reason) })
  assert.ok((await listAll(changes)).length >= 2)
  assert.deepEqual(reasons, ['epoch'])

  // While the stream is open.
  const { latest } = await depot.get('/v3/changes')
  const following = depot.changes({ kinds, since: latest, onExpired: (reason) => void reasons.push(reason) })
  const next = nextOf(following)
  const project = await t.make.project({ owner })
  assert.equal((await next).id, project.id)
  const again = nextOf(following)
  await t.deps.pool.query('select rebuild_public_changes()')
  assert.equal((await again).state, 'present')
  assert.deepEqual(reasons, ['epoch', 'epoch'])
  await following.return()
})

test('where the stream is not available, the list is requested again after a pause', async () => {
  let number = 0
  const server = await standIn((request, response) => {
    if (request.url?.startsWith('/v3/changes/stream') === true)
      return sendJson(response, 429, { error: 'ratelimit_error', description: 'Too many streams' })
    number += 1
    const [cursor, changed] = [`k3Fp9QzA-${number}`, '2026-03-01T12:00:00.000Z']
    const entry = { cursor, kind: 'project', id: `AABBCC0${number}`, state: 'removed', changed }
    sendJson(response, 200, { changes: [entry], next: cursor, more: number === 1, latest: cursor })
  })
  const reasons: string[] = []
  const client = createDepot({ url: server.url, retry: { onRetry: ({ reason }) => void reasons.push(reason) } })
  const changes = client.changes({ pollSeconds: 0 })
  const ids: string[] = []
  for await (const { id } of changes) {
    ids.push(id)
    if (ids.length === 3) break
  }
  assert.deepEqual(ids, ['AABBCC01', 'AABBCC02', 'AABBCC03'])
  assert.deepEqual(reasons, ['Too many streams'])
  assert.ok(server.requests.some((request) => request.includes('since=k3Fp9QzA-2')))
  server.close()
  // An instance that never answered is an error.
  await assert.rejects(nextOf(createDepot({ url: server.url, retry: { attempts: 1 } }).changes()), TypeError)
})
