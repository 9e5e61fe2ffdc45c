// Uploads in parts: cut connections, damaged parts, lost uploads, another call that continues an upload.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createDepot, type Depot, DepotError, type UploadProgress } from '#client/index.ts'
import { type TusStandIn, tusStandIn } from './tus-stand-in.ts'

const CONTENT = randomBytes(100_000)
const file = new File([CONTENT], 'größe 1.jar', { lastModified: 1_772_366_400_000 })
const partBytes = 30_000

let server: TusStandIn
let depot: Depot
before(async () => {
  server = await tusStandIn()
  depot = createDepot({ url: server.url, token: 'a token', userAgent: 'test/1.0' })
})
beforeEach(() => {
  server.uploads.clear()
  server.requests.length = 0
  server.faults.length = 0
})
after(() => server.close())

const contentOf = (id: string): Buffer | undefined => server.uploads.get(id)?.content

test('a file arrives in parts, with its name and with progress', async () => {
  const progress: UploadProgress[] = []
  const { id } = await depot.upload(file, { partBytes, onProgress: (step) => progress.push(step) })
  assert.deepEqual(contentOf(id), CONTENT)
  assert.equal(server.uploads.get(id)?.metadata, `filename ${Buffer.from('größe 1.jar').toString('base64')}`)
  assert.deepEqual(
    progress.map(({ sent }) => sent),
    [0, 30_000, 60_000, 90_000, 100_000],
  )
  assert.ok(!server.requests.some((request) => request.startsWith('GET')))
})

test('an empty file is complete immediately', async () => {
  const { id } = await depot.upload(new File([], 'empty.jar'))
  assert.equal(contentOf(id)?.length, 0)
  assert.deepEqual(server.requests, ['POST /v3/upload'])
})

test('after a cut connection, the upload continues where the server stopped', async () => {
  server.faults.push('cut', 'cut', 'cut')
  const sent: number[] = []
  const { id } = await depot.upload(file, { partBytes, onProgress: (step) => sent.push(step.sent) })
  assert.deepEqual(contentOf(id), CONTENT)
  assert.deepEqual(sent.slice(0, 4), [0, 15_000, 30_000, 45_000])
})

test('without progress, the upload fails after the time that the caller allows', async () => {
  server.faults.push('cut')
  const { id } = await depot.upload(file, { partBytes, patienceSeconds: 5 })
  assert.deepEqual(contentOf(id), CONTENT)
  for (let n = 0; n < 30; n++) server.faults.push('busy')
  await assert.rejects(depot.upload(file, { partBytes, patienceSeconds: 0 }), (error: DepotError) => {
    assert.ok(error instanceof DepotError)
    return error.status === 409
  })
  server.faults.length = 0
})

test('parts grow while they are fast, and shrink after a failure', async ({ mock }) => {
  // Every part takes no time.
  mock.timers.enable({ apis: ['Date'] })
  const big = new File([randomBytes(10_000_000)], 'big.jar')
  server.faults.push('ok', 'ok', 'ok', 'cut')
  const sent: number[] = []
  await depot.upload(big, { onProgress: (step) => sent.push(step.sent) })
  const MIB = 1024 ** 2
  // 1, 2, 4 MiB; half of the next part; then a quarter of its size, which grows again.
  const cut = 7 * MIB + Math.floor((big.size - 7 * MIB) / 2)
  assert.deepEqual(sent, [0, MIB, 3 * MIB, 7 * MIB, cut, big.size])
})

test('parts fit the limit of a proxy', async ({ mock }) => {
  mock.timers.enable({ apis: ['Date'] })
  const big = new File([randomBytes(4_000_000)], 'big.jar')
  server.faults.push('ok', 'large')
  const sent: number[] = []
  await depot.upload(big, { onProgress: (step) => sent.push(step.sent) })
  const MIB = 1024 ** 2
  assert.deepEqual([...new Set(sent)], [0, MIB, 2 * MIB, 3 * MIB, big.size])
  for (let n = 0; n < 10; n++) server.faults.push('large')
  await assert.rejects(depot.upload(big), (error: DepotError) => error.status === 413)
  server.faults.length = 0
})

test('a damaged part is sent again, and so is one that another request or a failure of the server has delayed', async () => {
  server.faults.push('damage', 'busy', 'error')
  const { id } = await depot.upload(file, { partBytes })
  assert.deepEqual(contentOf(id), CONTENT)
})

test('a part that is always damaged is an error', async () => {
  for (let n = 0; n < 4; n++) server.faults.push('damage')
  await assert.rejects(depot.upload(file, { partBytes }), (error: DepotError) => {
    assert.ok(error instanceof DepotError)
    return error.status === 460
  })
})

test('an upload that the server has deleted is an error', async () => {
  server.faults.push('lose')
  await assert.rejects(depot.upload(file, { partBytes }), /has deleted the upload/)
})

test('another call continues an upload that was stopped, and begins again if the server no longer has it', async () => {
  const stored = new Map<string, string>()
  const resume = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  }
  const controller = new AbortController()
  const stop = ({ sent }: UploadProgress) => sent >= 60_000 && controller.abort(new Error('stopped'))
  await assert.rejects(
    depot.upload(file, { partBytes, resume, signal: controller.signal, onProgress: stop }),
    /stopped/,
  )
  assert.equal(stored.size, 1)
  const sent: number[] = []
  const { id } = await depot.upload(file, { partBytes, resume, onProgress: (step) => sent.push(step.sent) })
  assert.deepEqual(sent, [60_000, 90_000, 100_000])
  assert.deepEqual(contentOf(id), CONTENT)
  assert.equal(stored.size, 0)

  await assert.rejects(
    depot.upload(file, { partBytes, resume, signal: AbortSignal.abort(new Error('stopped')) }),
    /stopped/,
  )
  stored.set(
    [...stored.keys()][0] ?? `depot-upload ${server.url} ${file.name} ${file.size} ${file.lastModified}`,
    'Deleted0',
  )
  const again = await depot.upload(file, { partBytes, resume })
  assert.deepEqual(contentOf(again.id), CONTENT)
})
