// Events over HTTP to a real process: accepted events survive SIGTERM, stored events survive kill -9, counters agree
// with events after both, and commands work while a server has the store open.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const KEY = 'lifecycle-bypass-key-0123456789abcdef'
const { dataDir, remove } = makeDataDir()
let database: TestDatabase
let env: Record<string, string>
let server: RunningDepot
let token = ''
let filePath = ''
let sent = 0

before(async () => {
  database = await testDatabase()
  env = {
    DATABASE_URL: database.connectionString,
    RATE_LIMIT_BYPASS_KEY: KEY,
    CLIENT_ADDRESS_HEADER: 'X-Address',
    LOG_LEVEL: 'warn',
  }
  const files = await openDiskFiles({ folder: join(dataDir, 'files') })
  const make = createFactories({ db: database.db, files, now: Date.now })
  const project = await make.project({ slug: 'counted' })
  const version = await make.version({ project })
  await make.file({ version, project, bytes: Buffer.from('counted bytes') })
  filePath = `/data/${project.id}/versions/${version.id}/test.jar`
  token = project.owner.token
  server = await startDepot(dataDir, env)
})
after(async () => {
  await server.stop('SIGKILL')
  await database.close()
  remove()
})

/** Sends a request from its own IP address. */
async function send(path: string, init: RequestInit = {}): Promise<Response> {
  sent += 1
  const address = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`
  const headers = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': KEY, 'x-address': address }
  return fetch(server.url + path, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
}

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await send(path, init)
  assert.ok(response.ok, `${path}: ${response.status}`)
  return (await response.json()) as T
}

const json = (body: unknown, more: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...more },
})

async function view(): Promise<void> {
  const response = await send('/analytics/view', json({ url: 'https://site.example/project/counted' }))
  assert.equal(response.status, 204)
}

async function download(): Promise<void> {
  const response = await send(filePath)
  assert.equal(response.status, 200)
  await response.arrayBuffer()
}

/** Returns the all-time totals of the API. */
async function counted(): Promise<{ views: number; downloads: number }> {
  const time_range = {
    start: new Date(Date.now() - DAY_MS).toISOString(),
    end: new Date(Date.now() + DAY_MS).toISOString(),
    resolution: { slices: 1 },
  }
  const body = { time_range, return_metrics: { project_views: {}, project_downloads: {} }, project_ids: ['counted'] }
  const [points = []] = await call<{ views?: number; downloads?: number }[][]>(
    '/v3/analytics',
    json(body, { authorization: token }),
  )
  return Object.assign(
    { views: 0, downloads: 0 },
    ...points.map(({ views, downloads }) => (views ? { views } : { downloads })),
  )
}

const counter = async () => (await call<{ downloads: number }>('/v3/project/counted')).downloads

/** Returns the number of events that the running process has stored. */
async function stored(kind: string): Promise<number> {
  const text = await (await send('/metrics')).text()
  return Number(new RegExp(`depot_analytics_events_total\\{kind="${kind}",outcome="stored"\\} (\\d+)`).exec(text)?.[1])
}

test('SIGTERM loses no accepted event, and the counters have followed before the process ends', async () => {
  const before = await counted()
  await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? view() : download())))
  assert.equal(await server.stop(), 0)
  server = await startDepot(dataDir, env)
  assert.deepEqual(await counted(), { views: before.views + 30, downloads: before.downloads + 30 })
  assert.equal(await counter(), before.downloads + 30)
})

test('kill -9 while events stream in loses none that was stored, and the next start agrees with itself', async () => {
  const before = await counted()
  const deadline = Date.now() + 10 * MINUTE_MS
  let accepted = 0
  let flushed = { views: 0, downloads: 0 }
  // Until two batches of each kind have gone through, and events of the next are on their way.
  while (flushed.views < 60 || flushed.downloads < 60) {
    assert.ok(Date.now() < deadline, 'events are not stored')
    await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? view() : download())))
    accepted += 20
    flushed = { views: await stored('view'), downloads: await stored('download') }
  }
  await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? view() : download())))
  accepted += 20
  await server.stop('SIGKILL')
  server = await startDepot(dataDir, env)
  const found = await counted()
  for (const kind of ['views', 'downloads'] as const) {
    assert.ok(found[kind] >= before[kind] + flushed[kind], `${kind}: ${flushed[kind]} were stored`)
    assert.ok(found[kind] <= before[kind] + accepted, `${kind}: ${accepted} were accepted`)
  }
  // The counter follows what the crash left, once, as soon as the store is open.
  while ((await counter()) < found.downloads && Date.now() < deadline) await sleep(100)
  assert.equal(await counter(), found.downloads)
})

test('while a project is held, its downloads are stored, survive kill -9, and are counted once it is free', async () => {
  const before = await counted()
  const storedBefore = await stored('download')
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = database.db.transaction().execute(async (tx) => {
    await tx.selectFrom('project').select('id').where('slug', '=', 'counted').forUpdate().execute()
    await tx.selectFrom('version').select('id').forUpdate().execute()
    held.resolve()
    await release.promise
  })
  await held.promise
  for (let round = 1; round <= 2; round += 1) {
    await Promise.all(Array.from({ length: 10 }, download))
    while ((await stored('download')) < storedBefore + round * 10) await sleep(50)
  }
  assert.equal(await counter(), before.downloads)
  await server.stop('SIGKILL')
  server = await startDepot(dataDir, env)
  assert.equal((await counted()).downloads, before.downloads + 20)
  release.resolve()
  await holding
  while ((await counter()) < before.downloads + 20) await sleep(50)
  assert.equal(await counter(), before.downloads + 20)
})

test('check reports success with and without a running server', async () => {
  const beside = await depot(dataDir, ['check', '--json'], env)
  assert.equal(beside.code, 0, beside.stdout)
  assert.equal(JSON.parse(beside.stdout).dependencies.analytics.status, 'ok')
  await server.stop()
  const alone = await depot(dataDir, ['check', '--json'], env)
  assert.equal(alone.code, 0, alone.stdout)
  const lookup = await depot(dataDir, ['serve'], { ...env, GEOIP_DATABASE: '/nowhere/at.mmdb' })
  assert.equal(lookup.code, 1)
  assert.match(lookup.stderr, /Cannot read the GeoIP database \/nowhere\/at\.mmdb/)
})
