// Resumable uploads: the protocol over real connections, limits, and versions that name uploads.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { readScopeNames } from '#lib/access/scopes.ts'
import { jobHandlers } from '#main/app.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

let t: TestApp
let project: MadeProject
let person: Person
let base: string
before(async () => {
  t = await testApp()
  project = await t.make.project()
  person = await t.make.account()
  base = await t.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => t.close())

type Sent = { status: number; headers: IncomingHttpHeaders; body: string }
type Options = {
  as?: { token: string } | null
  body?: Buffer
  headers?: Record<string, string>
  cutAt?: number
  chunked?: boolean
}

const TUS = { 'tus-resumable': '1.0.0' }
const PART = { 'content-type': 'application/offset+octet-stream' }

/** Sends a request; with `cutAt`, closes the connection after that many bytes of the body. */
function send(
  method: string,
  path: string,
  { as = project.owner, body, headers = {}, cutAt, chunked = false }: Options = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const req = request(new URL(path, base), {
      method,
      headers: {
        'user-agent': 'depot-test',
        ...TUS,
        ...(as === null ? {} : { authorization: as.token }),
        ...(body === undefined || chunked ? {} : { 'content-length': String(body.length) }),
        ...headers,
      },
    })
    req.on('response', (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
      )
      res.on('error', reject)
    })
    req.on('error', (error) => (cutAt === undefined ? reject(error) : resolve({ status: 0, headers: {}, body: '' })))
    if (body === undefined) return void req.end()
    if (cutAt === undefined) return void req.end(body)
    req.flushHeaders()
    req.write(body.subarray(0, cutAt), () => setTimeout(() => req.destroy(), 20))
  })
}

const metadata = (filename: string) => ({ 'upload-metadata': `filename ${Buffer.from(filename).toString('base64')}` })

async function create(length: number, headers: Record<string, string> = {}, as = project.owner): Promise<string> {
  const made = await send('POST', '/v3/upload', {
    as,
    headers: { 'upload-length': String(length), ...metadata('a.jar'), ...headers },
  })
  assert.equal(made.status, 201, made.body)
  return made.headers.location ?? ''
}

const patch = (path: string, offset: number, body: Buffer, options: Options = {}) =>
  send('PATCH', path, { ...options, body, headers: { ...PART, 'upload-offset': String(offset), ...options.headers } })

const idOf = (path: string) => path.split('/').at(-1) ?? ''

async function uploaded(bytes: Buffer, filename: string): Promise<string> {
  const path = await create(bytes.length, metadata(filename))
  assert.equal((await patch(path, 0, bytes)).status, 204)
  return `upload:${idOf(path)}`
}

/** Asks until the offset no longer changes: a cut request is stored after the client has disconnected. */
async function storedOffset(path: string): Promise<number> {
  for (;;) {
    const { rows } = await sql<{ lease: string | null }>`select lease from upload where id = ${idOf(path)}`.execute(
      t.deps.db,
    )
    if (rows[0]?.lease === null) break
    await sleep(5)
  }
  return Number((await send('HEAD', path)).headers['upload-offset'])
}

describe('the protocol', () => {
  test('OPTIONS says what the server can do, without a token', async () => {
    const { status, headers } = await send('OPTIONS', '/v3/upload', {
      as: null,
      headers: { 'tus-resumable': '9' },
    })
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
    for (const checksum of ['crc32 AAAA', 'sha1 AAAA', 'sha1']) {
      assert.equal((await patch(path, 0, body, { headers: { 'upload-checksum': checksum } })).status, 400, checksum)
    }
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
    for (const offset of ['-1', 'x', '1.5']) {
      assert.equal((await patch(path, 0, body, { headers: { 'upload-offset': offset } })).status, 400)
    }
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
})

describe('an unreliable connection', () => {
  test('that is cut at every byte of a small file loses no stored byte', async () => {
    const bytes = randomBytes(24)
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const path = await create(bytes.length)
      if (cut < bytes.length) await patch(path, 0, bytes, { cutAt: cut })
      // As clients do: ask for the offset and continue, again while the cut request still writes.
      for (let status = 0; status !== 204; ) {
        const offset = await storedOffset(path)
        assert.ok(offset === 0 || offset === cut, String(offset))
        status = (await patch(path, offset, bytes.subarray(offset))).status
        assert.ok([204, 409].includes(status), String(status))
      }
      const { rows } = await sql<{ key: string }>`
        select storage_key as key from upload_part where upload_id = ${idOf(path)} order by start`.execute(t.deps.db)
      const parts = await Promise.all(
        rows.map(async ({ key }) => buffer((await t.deps.files.open(key))?.stream as Readable)),
      )
      assert.deepEqual(Buffer.concat(parts), bytes)
      assert.equal((await send('DELETE', path)).status, 204)
    }
  })

  test('two writers: the second is refused until the first ends, or has been silent for ten seconds', async () => {
    const path = await create(6)
    const slow = request(new URL(path, base), {
      method: 'PATCH',
      headers: {
        'user-agent': 'x',
        ...TUS,
        ...PART,
        authorization: project.owner.token,
        'upload-offset': '0',
        'content-length': '6',
      },
    })
    slow.on('error', () => {})
    slow.write('abc')
    const leased = async () =>
      (
        await sql<{ held: boolean }>`select lease is not null as held from upload where id = ${idOf(path)}`.execute(
          t.deps.db,
        )
      ).rows[0]?.held
    while ((await leased()) !== true) await sleep(5)
    const second = await patch(path, 0, Buffer.from('xyz'))
    assert.equal(second.status, 409)
    assert.equal(second.headers['upload-offset'], '0')
    assert.equal(second.headers['retry-after'], '1')
    assert.equal((await send('DELETE', path)).status, 409)
    assert.equal((await send('HEAD', path)).headers['upload-offset'], '0')
    await sql`update upload set lease_until = clock_timestamp() where id = ${idOf(path)}`.execute(t.deps.db)
    assert.equal((await patch(path, 0, Buffer.from('xyz'))).headers['upload-offset'], '3')
    slow.end('def')
    const answer = await new Promise<number>((resolve) => slow.on('response', (res) => resolve(res.statusCode ?? 0)))
    assert.equal(answer, 409)
    assert.equal((await send('HEAD', path)).headers['upload-offset'], '3')
    assert.equal((await send('DELETE', path)).status, 204)
  })
})

describe('limits', () => {
  test('20 uploads and 2 GiB for an account, with the announced and the received length', async () => {
    const made = await Promise.all(
      Array.from({ length: 22 }, () => send('POST', '/v3/upload', { as: person, headers: { 'upload-length': '1' } })),
    )
    assert.equal(made.filter(({ status }) => status === 201).length, 20)
    const refused = made.find(({ status }) => status === 400)
    assert.equal(JSON.parse(refused?.body ?? '{}').error, 'LimitReached')
    for (const { id } of JSON.parse((await send('GET', '/v3/upload', { as: person })).body)) {
      await send('DELETE', `/v3/upload/${id}`, { as: person })
    }
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

  test('unfinished uploads expire, 10,000 of them too, with their parts', async () => {
    const path = await create(6)
    await patch(path, 0, Buffer.from('abc'))
    const stored = async () =>
      (
        await sql<{ key: string }>`select storage_key as key from upload_part where upload_id = ${idOf(path)}`.execute(
          t.deps.db,
        )
      ).rows
    const [part] = await stored()
    assert.ok((await t.deps.files.stat(part?.key ?? '')) !== undefined)
    await sql`insert into upload (id, account_id, length, metadata, expires)
      select 'x' || n, ${person.id}, 1, '', now() + interval '1 hour' from generate_series(1, 10000) n`.execute(
      t.deps.db,
    )
    t.advance(23 * 60 * 60 * 1000)
    assert.equal((await send('HEAD', path)).status, 200)
    t.advance(2 * 60 * 60 * 1000)
    assert.equal((await send('HEAD', path)).status, 404)
    await jobHandlers(t.deps)['uploads.expire']({}, new AbortController().signal)
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from upload`.execute(t.deps.db)
    assert.equal(rows[0]?.count, 0)
    await t.runJobs()
    assert.equal(await t.deps.files.stat(part?.key ?? ''), undefined)
  })
})

describe('a version', () => {
  const data = (fields: Record<string, unknown>) => ({ project_id: project.id, ...versionData(fields) })
  const post = (body: unknown, as = project.owner, query = '') => t.as(as).post(`/v3/version${query}`, body)

  test('names finished uploads; a refused description costs none, and each can be used once', async () => {
    const bytes = modJar('tus')
    const path = await create(bytes.length, metadata('tus.jar'))
    const part = `upload:${idOf(path)}`
    await patch(path, 0, bytes.subarray(0, 10))
    const unfinished = await post(data({ file_parts: [part] }))
    assert.equal(unfinished.statusCode, 400)
    assert.equal(unfinished.json().details.field, 'file_parts.0')
    await patch(path, 10, bytes.subarray(10))
    const refused = await post(data({ file_parts: [part], loaders: ['nope'] }))
    assert.equal(refused.statusCode, 400)
    assert.equal((await post(data({ file_parts: [part] }), person)).statusCode, 403)
    const dry = await post(data({ file_parts: [part] }), project.owner, '?dry_run=true')
    assert.equal(dry.statusCode, 200, dry.body)
    assert.deepEqual(dry.json().warnings, [])
    const made = await post(data({ file_parts: [part] }))
    assert.equal(made.statusCode, 201, made.body)
    const [file] = made.json().files
    assert.equal(file.filename, 'tus.jar')
    assert.equal(file.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
    assert.deepEqual((await t.anyone.get(new URL(file.url).pathname)).rawPayload, bytes)
    assert.equal((await send('HEAD', path)).status, 404)
    assert.equal((await post(data({ version_number: '2', file_parts: [part] }))).json().details.field, 'file_parts.0')
  })

  test('two requests with the same upload publish one version', async () => {
    const part = await uploaded(modJar('once'), 'once.jar')
    const answers = await Promise.all(
      ['3', '4'].map((version_number) => post(data({ version_number, file_parts: [part] }))),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400])
  })

  test('has files of the form and uploads; a project too, also as JSON', async () => {
    const part = await uploaded(modJar('second'), 'second.jar')
    const { payload, headers } = await form(data({ version_number: '5', file_parts: ['file', part] }), [
      { name: 'file', bytes: modJar('first') },
    ])
    const mixed = await t.as(project.owner).post('/v3/version', payload, { headers })
    assert.equal(mixed.statusCode, 201, mixed.body)
    assert.equal(mixed.json().files.length, 2)
    const ofProject = await uploaded(modJar('of-a-project'), 'p.jar')
    const initial_versions = [versionData({ file_parts: [ofProject] })]
    const created = await t.as(project.owner).post('/v3/project', projectData('of-uploads', { initial_versions }))
    assert.equal(created.statusCode, 201, created.body)
  })

  test('that is a draft gets uploads later, and keeps those that it names for seven days', async () => {
    const bytes = modJar('of-a-draft')
    const path = await create(bytes.length, metadata('draft.jar'))
    const part = `upload:${idOf(path)}`
    const draft = await post({ project_id: project.id, status: 'draft', file_parts: [part] })
    assert.equal(draft.statusCode, 201, draft.body)
    t.advance(6 * 24 * 60 * 60 * 1000)
    assert.equal((await patch(path, 0, bytes)).status, 204)
    const added = await t.as(project.owner).post(`/v3/version/${draft.json().id}/file`, { file_parts: [part] })
    assert.equal(added.statusCode, 204, added.body)
    const view = (await t.as(project.owner).get(`/v3/version/${draft.json().id}`)).json()
    assert.equal(view.files[0].filename, 'draft.jar')
    const twice = await t.as(project.owner).post(`/v3/version/${draft.json().id}/file`, { file_parts: [part] })
    assert.equal(twice.json().details.field, 'file_parts.0')
  })

  test('needs the name of the file', async () => {
    const made = await send('POST', '/v3/upload', {
      body: Buffer.from('abc'),
      headers: { 'upload-length': '3', ...PART },
    })
    const pathname = made.headers.location ?? ''
    const answer = await post(data({ version_number: '9', file_parts: [`upload:${idOf(pathname)}`] }))
    assert.match(answer.json().details.message, /no file name/)
  })
})
