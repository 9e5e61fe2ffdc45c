// Downloads: whole files and ranges, ETags, visibility and counting.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

let t: TestApp
let project: MadeProject
let version: { id: string }
let path = ''
let sha512 = ''
const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251))
before(async () => {
  t = await testApp()
  project = await t.make.project()
  version = await t.make.version({ project })
  sha512 = (await t.make.file({ version, project, bytes, filename: 'größe "1".jar' })).sha512
  path = new URL((await t.anyone.get(`/v3/version/${version.id}`)).json().files[0].url).pathname
})
after(() => t.close())

let lastAddress = 0
const newAddress = () => {
  lastAddress += 1
  return `10.1.${Math.floor(lastAddress / 250)}.${lastAddress % 250}`
}
/** Downloads from a separate IP address. */
const get = (headers: Record<string, string> = {}, url = path, remoteAddress = newAddress()) =>
  t.inject({ method: 'GET', url, headers: { 'user-agent': 'depot-tests/1.0', ...headers }, remoteAddress })

/** Returns the downloads of the project after everything accepted is stored and counted. */
async function downloads(id = project.id): Promise<number> {
  await t.deps.events.flush()
  return (await t.anyone.get(`/v3/project/${id}`)).json().downloads
}

test('a whole file: its bytes, a strong tag, immutable, an attachment that is not sniffed', async () => {
  const answer = await get()
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(answer.rawPayload, bytes)
  assert.equal(answer.headers['etag'], `"${sha512}"`)
  assert.equal(answer.headers['content-length'], '10000')
  assert.equal(answer.headers['accept-ranges'], 'bytes')
  assert.match(String(answer.headers['cache-control']), /^public, max-age=31536000, immutable$/)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(
    answer.headers['content-disposition'],
    `attachment; filename="gr__e _1_.jar"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.jar`,
  )
  assert.equal(answer.headers['content-encoding'], undefined)
  const compressed = await get({ 'accept-encoding': 'gzip' })
  assert.equal(compressed.headers['content-encoding'], undefined, 'archives are not compressed again')
})

describe('ranges', () => {
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, 9999],
    ['bytes=100-199', 100, 199],
    ['bytes=9999-', 9999, 9999],
    ['bytes=-1', 9999, 9999],
    ['bytes=-500', 9500, 9999],
    ['bytes=-99999', 0, 9999],
    ['bytes=5000-99999', 5000, 9999],
  ] as const) {
    test(`${range} is 206 with just those bytes`, async () => {
      const answer = await get({ range })
      assert.equal(answer.statusCode, 206)
      assert.equal(answer.headers['content-range'], `bytes ${start}-${end}/10000`)
      assert.deepEqual(answer.rawPayload, bytes.subarray(start, end + 1))
    })
  }
  for (const range of ['bytes=10000-', 'bytes=10000-10001', 'bytes=-0']) {
    test(`${range} lies outside: 416 with the size`, async () => {
      const answer = await get({ range })
      assert.equal(answer.statusCode, 416)
      assert.equal(answer.headers['content-range'], 'bytes */10000')
      assert.equal(answer.json().error, 'invalid_input')
    })
  }
  for (const range of ['bytes=5-1', 'items=0-1', 'bytes=a-b', 'bytes=0-1,5-6', 'bytes=']) {
    test(`${range} is not a single range of bytes and is ignored`, async () => {
      assert.equal((await get({ range })).statusCode, 200)
    })
  }
  test('a range is one of the uncompressed file, whatever coding the client accepts', async () => {
    const [plain, coded] = [
      await get({ range: 'bytes=0-99' }),
      await get({ range: 'bytes=0-99', 'accept-encoding': 'gzip, identity;q=0' }),
    ]
    assert.deepEqual([coded.statusCode, coded.headers['content-encoding']], [206, undefined])
    assert.equal(coded.headers['etag'], plain.headers['etag'])
    assert.deepEqual(coded.rawPayload, plain.rawPayload)
  })

  test('If-Range with another tag gives the whole file', async () => {
    assert.equal((await get({ range: 'bytes=0-9', 'if-range': '"other"' })).statusCode, 200)
    assert.equal((await get({ range: 'bytes=0-9', 'if-range': `"${sha512}"` })).statusCode, 206)
  })
})

test('If-None-Match returns 304, HEAD only the headers', async () => {
  assert.equal((await get({ 'if-none-match': `"${sha512}"` })).statusCode, 304)
  const head = await t.inject({ method: 'HEAD', url: path, headers: { 'user-agent': 'x' } })
  assert.equal(head.statusCode, 200)
  assert.equal(head.headers['content-length'], '10000')
  assert.equal(head.body, '')
})

test('the file has the visibility of its version, for warm readers too', async () => {
  const own = await t.make.project()
  const hidden = await t.make.version({ project: own })
  await t.make.file({ version: hidden, project: own, bytes: Buffer.from('hidden bytes') })
  const url = `/data/${own.id}/versions/${hidden.id}/test.jar`
  assert.equal((await get({}, url)).statusCode, 200)
  await t.as(own.owner).patch(`/v3/version/${hidden.id}`, { status: 'draft' })
  assert.equal((await get({}, url)).statusCode, 404)
  const mine = await get({ authorization: own.owner.token }, url)
  assert.equal(mine.statusCode, 200)
  assert.match(String(mine.headers['cache-control']), /^private/)
})

test('returns 404 for another project, version or name, and for path tricks', async () => {
  const other = await t.make.project()
  for (const url of [
    `/data/${other.id}/versions/${version.id}/test.jar`,
    `/data/${project.id}/versions/AAAAAAAA/test.jar`,
    `/data/${project.id}/versions/${version.id}/other.jar`,
    `/data/${project.id}/versions/${version.id}/..%2F..%2Fpackage.json`,
    `/data/..%2F..%2F/versions/x/y`,
    '/data/pictures/0000000000000000000000000000000000000000.png',
  ])
    assert.equal((await get({}, url)).statusCode, 404, url)
})

describe('counting', () => {
  test('a full GET counts, also as `bytes=0-`; HEAD, 304 and other ranges do not', async () => {
    const own = await t.make.project()
    const counted = await t.make.version({ project: own })
    const file = await t.make.file({ version: counted, project: own, bytes: Buffer.from('counted bytes') })
    const url = `/data/${own.id}/versions/${counted.id}/test.jar`
    await get({}, url)
    await get({ range: 'bytes=0-' }, url)
    await get({ range: 'bytes=0-3' }, url)
    await get({ range: 'bytes=2-' }, url)
    await get({ 'if-none-match': `"${file.sha512}"` }, url)
    await t.inject({ method: 'HEAD', url, headers: { 'user-agent': 'x' }, remoteAddress: '10.9.9.9' })
    assert.equal(await downloads(own.id), 2)
    assert.equal((await t.anyone.get(`/v3/version/${counted.id}`)).json().downloads, 2)
  })

  test('a range that is not honoured counts as the whole file that it gets', async () => {
    const own = await t.make.project()
    const counted = await t.make.version({ project: own })
    await t.make.file({ version: counted, project: own, bytes: Buffer.from('ignored ranges') })
    const url = `/data/${own.id}/versions/${counted.id}/test.jar`
    for (const range of [
      { range: 'bytes=3-', 'if-range': '"other"' },
      { range: 'bytes=0-1,4-5' },
      { range: 'rows=3-' },
    ])
      assert.equal((await get(range as Record<string, string>, url)).statusCode, 200)
    assert.equal(await downloads(own.id), 3)
  })

  test('an IP address counts at most six times per project in six hours', async () => {
    const own = await t.make.project()
    const counted = await t.make.version({ project: own })
    await t.make.file({ version: counted, project: own, bytes: Buffer.from('capped bytes') })
    const url = `/data/${own.id}/versions/${counted.id}/test.jar`
    await Promise.all(Array.from({ length: 10 }, () => get({}, url, '192.0.2.200')))
    assert.equal(await downloads(own.id), 6)
    t.advance(6 * HOUR_MS + 1000)
    await get({}, url, '192.0.2.200')
    assert.equal(await downloads(own.id), 7)
  })
})

test('an IP address that continues past midnight still has six downloads in six hours', async () => {
  const own = await t.make.project()
  const counted = await t.make.version({ project: own })
  await t.make.file({ version: counted, project: own, bytes: Buffer.from('midnight bytes') })
  const url = `/data/${own.id}/versions/${counted.id}/test.jar`
  t.advance(DAY_MS - (t.deps.now() % DAY_MS) - 60_000)
  for (let i = 0; i < 4; i += 1) await get({}, url, '192.0.2.201')
  t.advance(120_000)
  for (let i = 0; i < 4; i += 1) await get({}, url, '192.0.2.201')
  assert.equal(await downloads(own.id), 6)
  t.advance(6 * HOUR_MS)
  for (let i = 0; i < 8; i += 1) await get({}, url, '192.0.2.201')
  assert.equal(await downloads(own.id), 12)
})
