// The client against the application: typed reads and writes, errors, lists in pages, lookups of many IDs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDepot, type Depot, DepotError, Form } from '#client/index.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { apiClient } from '#test/support/http/api-client.ts'
import { modJar, projectData, versionData } from '#test/support/http/forms.ts'

let t: TestApp
let url: string
let depot: Depot
let projectId: string
before(async () => {
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  depot = await openAs('mira')
  const project = await depot.post('/v3/project', { body: new Form(projectData('lantern') as never, {}) })
  projectId = project.id
})
after(() => t?.close())

/** Tests of other parts have their own requests, so they do not count at the rate limit. */
const open = (secret: string): Depot => apiClient(url, { token: secret, headers: { 'x-ratelimit-key': BYPASS_KEY } })

async function openAs(username: string): Promise<Depot> {
  return open((await t.make.pat(await t.make.account({ username }))).token)
}

const publish = (number: string) =>
  depot.post('/v3/version', {
    body: new Form(versionData({ project_id: projectId, version_number: number }) as never, {
      file: new File([Uint8Array.from(modJar(number))], `lantern-${number}.jar`),
    }),
  })

test('a version is published with its file, edited, and read again', async () => {
  const { id, files } = await publish('1.0.0')
  assert.equal(files[0]?.filename, 'lantern-1.0.0.jar')
  assert.equal(
    await depot.patch('/v3/version/{id}', { params: { path: { id } }, body: { changelog: 'Fixes.' } }),
    undefined,
  )
  const version = await depot.get('/v3/version/{id}', { params: { path: { id } } })
  assert.equal(version.changelog, 'Fixes.')
})

test('a dry run checks everything and stores nothing', async () => {
  const params = { path: { id: projectId } }
  const before = await depot.get('/v3/project/{id}', { params })
  const result = await depot.dryRun.patch('/v3/project/{id}', { params, body: { summary: 'Another summary.' } })
  assert.equal(result.valid, true)
  assert.deepEqual(await depot.get('/v3/project/{id}', { params }), before)
  const wrong = depot.dryRun.patch('/v3/project/{id}', { params, body: { name: '', summary: '' } })
  await assert.rejects(wrong, (error: DepotError) => {
    assert.deepEqual(
      error.errors.map(({ field }) => field),
      ['name', 'summary'],
    )
    return true
  })
})

test('an error has its status, code and field', async () => {
  const wrong = depot.patch('/v3/project/{id}', { params: { path: { id: projectId } }, body: { name: '' } })
  await assert.rejects(wrong, (error: DepotError) => {
    assert.ok(error instanceof DepotError)
    assert.deepEqual([error.status, error.error, error.field], [400, 'validation_error', 'name'])
    assert.equal(error.errors[0]?.field, 'name')
    assert.match(error.requestId ?? '', /./)
    return true
  })
  const missing = depot.get('/v3/project/{id}', { params: { path: { id: 'nowhere' } } })
  await assert.rejects(missing, (error: DepotError) => error.status === 404 && error.error === 'not_found')
})

test('a list is read page by page', async () => {
  for (const number of ['2.0.0', '2.0.1', '2.0.2', '2.0.3']) await publish(number)
  const numbers: string[] = []
  const sizes: number[] = []
  const path = { id: projectId }
  for await (const page of depot.pages('/v3/project/{id}/version', { params: { path, query: { limit: 2 } } }))
    sizes.push(page.length)
  for await (const version of depot.items('/v3/project/{id}/version', { params: { path, query: { limit: 2 } } }))
    numbers.push(version.version_number)
  assert.deepEqual(numbers, ['2.0.3', '2.0.2', '2.0.1', '2.0.0', '1.0.0'])
  assert.deepEqual(sizes, [2, 2, 1])
})

test('a list with `next` is read to its end', async () => {
  const person = await t.make.account({ role: 'moderator' })
  const approver = open((await t.make.pat(person)).token)
  for (const status of ['approved', 'rejected', 'approved'] as const)
    await approver.patch('/v3/project/{id}', { params: { path: { id: projectId } }, body: { status } })
  const session = open(person.token)
  const entries: number[] = []
  for await (const entry of session.items('/_internal/moderation/log', { params: { query: { limit: 1 } } }))
    entries.push(entry.id)
  assert.equal(entries.length, 3)
  assert.deepEqual(
    entries,
    entries.toSorted((a, b) => b - a),
  )
})

test('many IDs are one request per thousand, in their order', async () => {
  const ids: string[] = []
  for await (const { id } of depot.items('/v3/project/{id}/version', { params: { path: { id: projectId } } }))
    ids.push(id)
  let requests = 0
  const counted = createDepot({
    url,
    userAgent: 'depot-tests/1.0',
    fetch: (...args) => {
      requests++
      return fetch(...args)
    },
  })
  assert.deepEqual(await counted.many('/v3/projects', []), [])
  assert.equal(requests, 0)
  const unknown = Array.from({ length: 1000 }, (_, n) => `ZZ${String(n).padStart(6, '0')}`)
  const found = await depot.many('/v3/versions', [...ids.slice(0, 2), ...unknown, ...ids.slice(2)])
  assert.deepEqual(
    found.map(({ id }) => id),
    ids,
  )
})

test('versions are chosen for projects, and the addresses of the pack are named', async () => {
  const { version_number } = await publish('3.0.0')
  const request = { loaders: ['fabric'], game_versions: ['1.20.1'], loader_version: '0.15.11' }
  const plain = await depot.resolve({ items: ['lantern'], ...request })
  assert.deepEqual([plain.complete, plain.chosen.length, plain.pack], [true, 1, undefined])
  const version = await depot.get('/v3/version/{id}', { params: { path: { id: plain.chosen[0]?.version_id ?? '' } } })
  assert.equal(version.version_number, version_number)
  const stored = await depot.resolve({ items: [{ project: projectId }], ...request }, { store: true })
  assert.equal(stored.lock, plain.lock)
  assert.equal(stored.pack?.mrpack, `${url}/v3/lock/${stored.lock}.mrpack`)
  const headers = { 'user-agent': 'depot-test' }
  for (const address of Object.values(stored.pack ?? {})) assert.equal((await fetch(address, { headers })).status, 200)
})
