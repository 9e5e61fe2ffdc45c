// Resumable uploads: the protocol over real connections, and limits.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { readScopeNames } from '#features/basics/access/scopes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { checkEveryCut, checkRivals } from '#test/support/http/tus-checks.ts'
import { idOf, listening, metadata, PART, type TusClient, tusClient } from '#test/support/http/tus-requests.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const person = await t.make.account()
const base = await listening(t)
const client = tusClient(t, base, project.owner)

const send: TusClient['send'] = (...request) => client.send(...request)
const create: TusClient['create'] = (...upload) => client.create(...upload)
const patch: TusClient['patch'] = (...part) => client.patch(...part)

describe('the protocol', () => {
  test('OPTIONS says what the server can do, without a token', async () => {
    const { status, headers } = await send('OPTIONS', '/v3/upload', { as: null, headers: { 'tus-resumable': '9' } })
    assert.equal(status, 204)
    assert.equal(headers['tus-version'], '1.0.0')
    assert.equal(
      headers['tus-extension'],
      'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
    )
    assert.equal(headers['tus-max-size'], '524288000')
    assert.equal(headers['tus-checksum-algorithm'], 'sha1,sha256,sha512,md5')
  })

  test('an upload in two parts, and what HEAD says in between', async () => {
    const path = await create(11, metadata('hello.jar'))
    const first = await patch(path, 0, Buffer.from('hello '))
    assert.equal(first.status, 204, first.body)
    assert.equal(first.headers['upload-offset'], '6')
    assert.ok(Date.parse(first.headers['upload-expires'] as string) > t.deps.now())
    const head = await send('HEAD', path)
    assert.equal(head.status, 200)
    assert.equal(head.headers['upload-offset'], '6')
    assert.equal(head.headers['upload-length'], '11')
    assert.equal(head.headers['cache-control'], 'no-store')
    assert.equal(head.headers['upload-metadata'], metadata('hello.jar')['upload-metadata'])
    assert.equal(head.headers['tus-resumable'], '1.0.0')
    assert.equal((await patch(path, 6, Buffer.from('world'))).headers['upload-offset'], '11')
    const listed = JSON.parse((await send('GET', '/v3/upload')).body)
    assert.equal(listed.find(({ id }: { id: string }) => id === idOf(path))?.finished, true)
    assert.equal((await send('DELETE', path)).status, 204)
    assert.equal((await send('HEAD', path)).status, 404)
    assert.equal((await send('DELETE', path)).status, 404)
  })

  test('creation with upload, a deferred length, an empty upload, and the override of the method', async () => {
    const headers = { 'upload-defer-length': '1', ...PART }
    const made = await send('POST', '/v3/upload', { body: Buffer.from('abc'), headers })
    assert.equal(made.status, 201, made.body)
    assert.equal(made.headers['upload-offset'], '3')
    const pathname = made.headers.location ?? ''
    assert.equal((await send('HEAD', pathname)).headers['upload-defer-length'], '1')
    const override = { ...PART, 'x-http-method-override': 'PATCH', 'upload-offset': '3', 'upload-length': '5' }
    const last = await send('POST', pathname, { body: Buffer.from('de'), headers: override })
    assert.equal(last.status, 204, last.body)
    assert.equal((await send('HEAD', pathname)).headers['upload-length'], '5')
    assert.equal((await patch(pathname, 5, Buffer.alloc(0), { headers: { 'upload-length': '6' } })).status, 400)
    assert.equal((await send('POST', pathname, { headers: { 'x-http-method-override': 'DELETE' } })).status, 204)
    const empty = await create(0)
    assert.equal(JSON.parse((await send('GET', empty)).body).finished, true)
    await send('DELETE', empty)
  })

  test('checksums of the vector are accepted; another one stores nothing', async () => {
    const body = Buffer.from('hello world')
    const vectors = {
      sha1: 'Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
      sha256: 'uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=',
      md5: 'XrY7u+Ae7tCTyyK7j1rNww==',
      sha512: createHash('sha512').update(body).digest('base64'),
    }
    for (const [name, value] of Object.entries(vectors)) {
      const path = await create(11)
      const wrong = await patch(path, 0, Buffer.from('hello_world'), {
        headers: { 'upload-checksum': `${name} ${value}` },
      })
      assert.equal(wrong.status, 460, wrong.body)
      assert.equal((await send('HEAD', path)).headers['upload-offset'], '0')
      assert.equal((await patch(path, 0, body, { headers: { 'upload-checksum': `${name} ${value}` } })).status, 204)
      await send('DELETE', path)
    }
    const path = await create(11)
    for (const checksum of ['crc32 AAAA', 'sha1 AAAA', 'sha1'])
      assert.equal((await patch(path, 0, body, { headers: { 'upload-checksum': checksum } })).status, 400, checksum)
    await send('DELETE', path)
  })

  test('a refused part leaves no bytes in the store, also if a process stopped while it wrote', async () => {
    const path = await createDeferred()
    const { key, size } = await firstPart(path)
    const wrong = { 'upload-checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=' }
    assert.equal((await patch(path, size, Buffer.alloc(100_000), { headers: wrong })).status, 460)
    assert.deepEqual(await t.deps.files.stat(key), { sizeBytes: size })
    const end = { 'upload-length': String(size + 10) }
    assert.equal((await patch(path, size, Buffer.alloc(100_000), { chunked: true, headers: end })).status, 413)
    assert.deepEqual(await t.deps.files.stat(key), { sizeBytes: size })

    // The next part is shorter than the bytes that a stopped process has left.
    await leaveBytes(key)
    assert.equal((await patch(path, size, Buffer.from('ab'))).status, 204)
    assert.deepEqual(await t.deps.files.stat(key), { sizeBytes: size + 2 })
    // A stopped process has not released its lease either.
    const until = sql`clock_timestamp() - interval '1 second'`
    await leaveBytes(key)
    await sql`update upload set lease = 'stopped', lease_until = ${until} where id = ${idOf(path)}`.execute(t.deps.db)
    assert.equal((await patch(path, size + 2, Buffer.from('cd'))).status, 204)
    assert.deepEqual(await t.deps.files.stat(key), { sizeBytes: size + 2 })
    await send('DELETE', path)
  })

  test('the bytes of a stopped process are removed although the client does not return', async () => {
    const path = await createDeferred()
    const { key, size } = await firstPart(path)
    await leaveBytes(key)
    const until = sql`clock_timestamp() - interval '1 second'`
    await sql`update upload set lease = 'stopped', lease_until = ${until} where id = ${idOf(path)}`.execute(t.deps.db)
    await expire()
    assert.deepEqual(await t.deps.files.stat(key), { sizeBytes: size })
    assert.equal((await send('HEAD', path)).headers['upload-offset'], String(size))
    assert.equal((await patch(path, size, Buffer.from('rest'))).status, 204)
    await send('DELETE', path)
  })

  test('refuses other versions, bodies, offsets, lengths, accounts and tokens', async () => {
    const path = await create(10)
    const body = Buffer.from('hello')
    const old = await patch(path, 0, body, { headers: { 'tus-resumable': '0.2.2' } })
    assert.equal(old.status, 412)
    assert.equal(old.headers['tus-version'], '1.0.0')
    assert.equal((await patch(path, 0, body, { as: null, headers: { 'tus-resumable': '0.2.2' } })).status, 401)
    assert.equal((await patch(path, 0, body, { as: person })).status, 404)
    assert.equal((await send('HEAD', path, { as: person })).status, 404)
    assert.equal((await send('DELETE', path, { as: person })).status, 404)
    const reader = await t.make.pat(project.owner, readScopeNames(['PROJECT_READ']).bits)
    assert.equal((await patch(path, 0, body, { as: reader })).status, 403)
    assert.equal((await patch(path, 0, body, { headers: { 'content-type': 'application/json' } })).status, 415)
    const conflict = await patch(path, 3, body)
    assert.equal(conflict.status, 409)
    assert.equal(conflict.headers['upload-offset'], '0')
    for (const offset of ['-1', 'x', '1.5'])
      assert.equal((await patch(path, 0, body, { headers: { 'upload-offset': offset } })).status, 400)
    assert.equal((await patch(path, 0, Buffer.alloc(11))).status, 413)
    assert.equal((await patch(path, 0, Buffer.alloc(200_000), { chunked: true })).status, 413)
    assert.equal((await send('HEAD', path)).headers['upload-offset'], '0')
    await send('DELETE', path)
    const bad: [Record<string, string>, number][] = [
      [{}, 400],
      [{ 'upload-length': '5', 'upload-defer-length': '1' }, 400],
      [{ 'upload-defer-length': '2' }, 400],
      [{ 'upload-length': '524288001' }, 413],
      [{ 'upload-length': '5', 'upload-metadata': 'a YQ==,a YQ==' }, 400],
      [{ 'upload-length': '5', 'upload-metadata': 'a b c' }, 400],
      [{ 'upload-length': '5', 'upload-metadata': 'ä YQ==' }, 400],
    ]
    for (const [headers, status] of bad) {
      const { status: found, body: text } = await send('POST', '/v3/upload', { headers })
      assert.equal(found, status, `${JSON.stringify(headers)} ${text}`)
    }
    assert.deepEqual(JSON.parse((await send('GET', '/v3/upload')).body), [])
  })

  test('the first request of a concatenation is refused, and leaves no upload', async () => {
    for (const concat of ['partial', 'final;/v3/upload/a /v3/upload/b']) {
      const headers = { 'upload-length': '5', 'upload-concat': concat }
      const refused = await send('POST', '/v3/upload', { headers })
      assert.equal(refused.status, 400)
      assert.deepEqual(JSON.parse(refused.body).details.field, 'upload-concat')
    }
    assert.equal((await send('GET', '/v3/upload')).body, '[]')
  })

  test('every response has the version of the protocol, and names the headers that scripts can read', async () => {
    const path = await create(3)
    const answers = [
      await send('OPTIONS', '/v3/upload', { as: null, headers: { 'tus-resumable': '' } }),
      await send('OPTIONS', path, { as: null }),
      await send('POST', '/v3/upload', { as: null }),
      await send('POST', '/v3/upload'),
      await send('POST', '/v3/upload', { headers: { 'tus-resumable': '0.2.2' } }),
      await send('HEAD', path),
      await send('HEAD', '/v3/upload/nothing'),
      await patch(path, 1, Buffer.from('a')),
      await patch(path, 0, Buffer.from('abcd')),
      await patch(path, 0, Buffer.from('abc'), { headers: { 'content-type': 'text/plain' } }),
      await patch(path, 0, Buffer.from('abc')),
      await send('DELETE', path),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 204, 401, 400, 412, 200, 404, 409, 413, 415, 204, 204],
    )
    for (const { headers } of answers) {
      assert.equal(headers['tus-resumable'], '1.0.0')
      for (const name of ['Location', 'Upload-Offset', 'Upload-Length', 'Upload-Expires', 'Upload-Metadata', 'ETag'])
        assert.ok(headers['access-control-expose-headers']?.split(', ').includes(name), name)
    }
    const preflight = await send('OPTIONS', '/v3/upload', {
      as: null,
      headers: {
        origin: 'https://tools.example',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'tus-resumable,upload-offset',
      },
    })
    assert.equal(preflight.headers['tus-extension'], undefined)
    assert.match(preflight.headers['access-control-allow-methods'] ?? '', /PATCH|\*/)
    assert.match(preflight.headers['access-control-allow-headers'] ?? '', /upload-offset|\*/i)
  })

  test('HEAD: the length that is not known yet, and nothing about an upload that does not exist', async () => {
    const made = await send('POST', '/v3/upload', { headers: { 'upload-defer-length': '1' } })
    const head = await send('HEAD', made.headers.location ?? '')
    assert.deepEqual(
      [head.headers['upload-offset'], head.headers['upload-length'], head.headers['upload-metadata']],
      ['0', undefined, undefined],
    )
    await send('DELETE', made.headers.location ?? '')
    const missing = await send('HEAD', '/v3/upload/0123456789012345678901')
    assert.deepEqual([missing.status, missing.headers['upload-offset']], [404, undefined])
    for (const id of ['..%2f', 'x'.repeat(500), '%00', "'--"]) {
      const { status } = await send('HEAD', `/v3/upload/${id}`)
      assert.ok([400, 404].includes(status), `${id}: ${status}`)
    }
  })

  test('X-HTTP-Method-Override is PATCH, HEAD or DELETE, with the checks of that method', async () => {
    const path = await create(3)
    const as = (method: string, headers: Record<string, string> = {}, body?: Buffer) =>
      send('POST', path, { headers: { 'x-http-method-override': method, ...headers }, ...(body && { body }) })
    assert.equal((await as('PATCH', { ...PART, 'upload-offset': '1' }, Buffer.from('a'))).status, 409)
    assert.equal((await as('PATCH', { ...PART, 'upload-offset': '0' }, Buffer.from('a'))).headers['upload-offset'], '1')
    const head = await as('HEAD')
    assert.equal(head.headers['upload-offset'], '1')
    assert.equal(head.headers['cache-control'], 'no-store')
    assert.equal((await as('PUT')).status, 400)
    assert.equal((await send('POST', path)).status, 400)
    assert.equal((await as('DELETE')).status, 204)
  })

  test('a body beyond the length is refused before it is sent', async () => {
    const path = await create(10)
    const beyond = [
      ['PATCH', path, 'upload-offset: 0'],
      ['POST', '/v3/upload', 'upload-length: 10'],
    ] as const
    for (const [method, at, header] of beyond) {
      const socket = connect(Number(new URL(base).port), '127.0.0.1')
      const lines = [
        `${method} ${at} HTTP/1.1`,
        'host: depot',
        'user-agent: x',
        `authorization: ${project.owner.token}`,
      ]
      lines.push('tus-resumable: 1.0.0', 'content-type: application/offset+octet-stream', header, 'content-length: 11')
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      const [begin] = await once(socket, 'data')
      assert.match(String(begin), /^HTTP\/1.1 413 /)
      socket.destroy()
    }
    assert.equal((await send('HEAD', path)).headers['upload-offset'], '0')
    await send('DELETE', path)
  })

  test('a first part that is refused or cut leaves no upload', async () => {
    const headers = { 'upload-length': '5', ...PART }
    const wrong = { 'upload-checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=' }
    const body = Buffer.from('hello')
    const refused = await send('POST', '/v3/upload', { body, headers: { ...headers, ...wrong } })
    assert.deepEqual([refused.status, refused.headers.location], [460, undefined])
    assert.equal((await send('POST', '/v3/upload', { body: Buffer.alloc(6), headers })).status, 413)
    assert.equal((await send('POST', '/v3/upload', { body: Buffer.alloc(6), headers, chunked: true })).status, 413)
    await send('POST', '/v3/upload', { body, headers, cutAt: 3 })
    while ((await send('GET', '/v3/upload')).body !== '[]') await setImmediate()
  })
})

describe('an unreliable connection', () => {
  test('that is cut at every byte of a small file loses no stored byte', () => checkEveryCut(t, { bytes: 12 }))

  test('two writers, and wrong parts: only acknowledged bytes count', () => checkRivals(t))
})

describe('limits', () => {
  test('20 uploads and 2 GiB for an account, with the announced and the received length', async () => {
    const made = await Promise.all(
      Array.from({ length: 22 }, () => send('POST', '/v3/upload', { as: person, headers: { 'upload-length': '1' } })),
    )
    assert.equal(made.filter(({ status }) => status === 201).length, 20)
    const refused = made.find(({ status }) => status === 400)
    assert.equal(JSON.parse(refused?.body ?? '{}').error, 'LimitReached')
    for (const { id } of JSON.parse((await send('GET', '/v3/upload', { as: person })).body))
      await send('DELETE', `/v3/upload/${id}`, { as: person })
    const large = { 'upload-length': String(500 * 1024 * 1024) }
    for (let n = 0; n < 4; n += 1)
      assert.equal((await send('POST', '/v3/upload', { as: person, headers: large })).status, 201)
    const fifth = await send('POST', '/v3/upload', { as: person, headers: large })
    assert.equal(JSON.parse(fifth.body).details.kind, 'upload_bytes')
    const deferred = await send('POST', '/v3/upload', { as: person, headers: { 'upload-defer-length': '1' } })
    assert.equal(deferred.status, 201)
    const pathname = deferred.headers.location ?? ''
    const tooMuch = await patch(pathname, 0, Buffer.from('a'), { as: person, headers: large })
    assert.equal(JSON.parse(tooMuch.body).error, 'LimitReached')
    assert.equal((await patch(pathname, 0, Buffer.from('a'), { as: person })).status, 204)
  })

  test('unfinished uploads expire 24 hours after their last byte, with their parts', async () => {
    const path = await create(6)
    t.advance(20 * HOUR_MS)
    await patch(path, 0, Buffer.from('abc'))
    const parts = sql<{ key: string }>`select storage_key as key from upload_part where upload_id = ${idOf(path)}`
    const { rows } = await parts.execute(t.deps.db)
    const key = rows[0]?.key ?? ''
    assert.ok((await t.deps.files.stat(key)) !== undefined)
    t.advance(23 * HOUR_MS)
    assert.equal((await send('HEAD', path)).status, 200)
    t.advance(2 * HOUR_MS)
    for (const method of ['HEAD', 'DELETE']) assert.equal((await send(method, path)).status, 404)
    const late = await patch(path, 3, Buffer.from('def'))
    assert.deepEqual([late.status, late.headers['upload-offset']], [404, undefined])
    await expire()
    await t.runJobs()
    assert.equal(await t.deps.files.stat(key), undefined)
    assert.match(await t.deps.metrics.registry.metrics(), /depot_events_total\{event="upload.expired"\} [1-9]/)
  })

  test('10,000 uploads of one account are counted by one statement, and expire in ten', async () => {
    const upload = () => send('POST', '/v3/upload', { as: person, headers: { 'upload-length': '1' } })
    await sql`delete from upload where account_id = ${person.id}`.execute(t.deps.db)
    const { queries: few } = await t.queriesOf(async () => assert.equal((await upload()).status, 201))
    await sql`insert into upload (id, account_id, length, received, metadata, expires)
      select 'x' || n, ${person.id}, 2, 1, '', now() + interval '30 days' from generate_series(1, 10000) n`.execute(
      t.deps.db,
    )
    await sql`insert into upload_part (storage_key, upload_id, start, size_bytes)
      select 'uploads/x' || n || '/0-aaaaaaaa', 'x' || n, 0, 1 from generate_series(1, 10000) n`.execute(t.deps.db)
    const metrics = await t.deps.metrics.registry.metrics()
    assert.match(metrics, /depot_uploads_waiting\{state="unfinished"\} 1000\d/)
    assert.match(metrics, /depot_upload_bytes 1000\d/)
    const { queries: many } = await t.queriesOf(async () => assert.equal((await upload()).status, 400))
    assert.ok(many.length <= few.length, many.join('\n'))
    t.advance(31 * 24 * HOUR_MS)
    const { queries } = await t.queriesOf(expire)
    assert.ok(queries.length <= 11 * 7, String(queries.length))
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from upload`.execute(t.deps.db)
    assert.equal(rows[0]?.count, 0)
  })
})

async function createDeferred(): Promise<string> {
  const { headers } = await send('POST', '/v3/upload', { headers: { 'upload-defer-length': '1' } })
  return headers.location ?? ''
}

/** Sends the first part of an upload. */
async function firstPart(path: string): Promise<{ key: string; size: number }> {
  const body = Buffer.from('hello world')
  assert.equal((await patch(path, 0, body)).status, 204)
  const parts = sql<{ key: string }>`select storage_key as key from upload_part where upload_id = ${idOf(path)}`
  const { rows } = await parts.execute(t.deps.db)
  return { key: rows[0]?.key ?? '', size: body.length }
}

/** Adds bytes to a part without recording them. */
async function leaveBytes(key: string): Promise<void> {
  const stop = new AbortController()
  const { sizeBytes = 0 } = (await t.deps.files.stat(key)) ?? {}
  await t.deps.files.extensible?.extend(
    Readable.from([Buffer.alloc(50_000)]),
    { key, at: sizeBytes },
    { maxBytes: 50_000, tooLarge: () => new Error('too large'), onChunk: () => undefined, signal: stop.signal },
  )
}

const expire = () => t.runJob('uploads.expire')
