// Requests for 1,000 hashes next to other requests, and clients that read a large response one byte at a time.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const HASHES = 1000
const REQUESTS = 32
const SLOW = 8
/** More than the buffers of a connection hold. */
const LARGE_FILES = 200
const LARGE_BYTES = 100_000

let t: TestApp
let port: number
let project: MadeProject
const sockets = new Set<Socket>()
const agent = new Agent({ keepAlive: true })
before(async () => {
  t = await testApp({ env: { CONNECTIONS_PER_ADDRESS: String(REQUESTS * 2) } })
  await t.app.listen({ host: '127.0.0.1', port: 0 })
  t.app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  port = (t.app.server.address() as AddressInfo).port
  project = await t.make.project()
})
after(async () => {
  agent.destroy()
  await t.close()
})

type Body = { hashes: readonly string[] }

const HEADERS = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY }

async function open(path: string, body?: Body): Promise<IncomingMessage> {
  const method = body === undefined ? 'GET' : 'POST'
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent,
    headers: { ...HEADERS, 'content-type': 'application/json' },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = await once(sent, 'response')
  return answer as IncomingMessage
}

async function ask<Json>(path: string, body?: Body): Promise<Json> {
  const answer = await open(path, body)
  const bytes = Buffer.concat(await answer.toArray())
  assert.equal(answer.statusCode, 200, bytes.toString())
  if (body !== undefined) assert.equal(Number(answer.headers['content-length']), bytes.length)
  return JSON.parse(bytes.toString())
}

/** Adds versions with one file each. Returns the SHA-1 hashes of the files and the IDs of the versions, in the same order. */
async function addVersions(prefix: string, count: number): Promise<{ hashes: string[]; ids: string[] }> {
  const { id } = await t.make.version({ project, version_number: `${prefix}0` })
  const { rows } = await sql<{ id: string; sha1: string }>`with made as (
      insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields)
      select ${prefix} || lpad(n::text, 6, '0'), project_id, author_id, name, ${prefix} || n, version_type, status, loaders, fields
      from version, generate_series(1, ${count}::int) n where id = ${id} returning id),
    files as (
      insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
      select id, id, id || '.jar', 1, left(encode(sha256(id::bytea), 'hex'), 40), encode(sha512(id::bytea), 'hex'), true,
        'application/java-archive', 'bulk/' || id from made)
    select id, left(encode(sha256(id::bytea), 'hex'), 40) as sha1 from made order by id`.execute(t.deps.db)
  return { hashes: rows.map(({ sha1 }) => sha1), ids: rows.map((row) => row.id) }
}

/** The requests: real hashes that differ in each, and unknown ones that differ in each. */
function bodiesOf(hashes: readonly string[]): Body[] {
  const each = hashes.length / REQUESTS
  return Array.from({ length: REQUESTS }, (_, n) => {
    const own = hashes.slice(n * each, (n + 1) * each)
    const unknown = Array.from({ length: HASHES - each }, (_, i) => (n * HASHES + i).toString(16).padStart(40, '0'))
    return { hashes: [...own, ...unknown] }
  })
}

test('32 requests for 1,000 uncached hashes get complete responses, and then from the cache; other requests are answered between', async () => {
  const { hashes, ids } = await addVersions('Bt', REQUESTS * 100)
  const bodies = bodiesOf(hashes)
  const idOf = new Map(hashes.map((hash, n) => [hash, ids[n]]))
  const { sha1 } = await t.make.file({ version: await t.make.version({ project }), project, bytes: Buffer.from('one') })
  const other = await t.make.project()
  for (const state of ['uncached', 'cached']) {
    const done: string[] = []
    const bulk = bodies.map(async (body, n) => {
      const answer = await ask<Record<string, { id: string }>>('/v3/version_files', body)
      done.push('bulk')
      const expected = body.hashes.slice(0, hashes.length / REQUESTS).map((hash) => [hash, idOf.get(hash)])
      assert.deepEqual(
        Object.entries(answer).map(([hash, { id }]) => [hash, id]),
        expected,
        `${state} ${n}`,
      )
    })
    // Sent last, so that an order of arrival would answer them last.
    const singles = [
      ask<{ id: string }>(`/v3/project/${other.id}`).then(({ id }) => assert.equal(id, other.id)),
      ask<object>('/v3/version_files', { hashes: [sha1] }).then((found) =>
        assert.deepEqual(Object.keys(found), [sha1]),
      ),
    ].map((single) => single.then(() => done.push('single')))
    await Promise.all([...bulk, ...singles])
    const last = done.lastIndexOf('single')
    // On a busy machine, about half of them are answered before, because all wait for connections to the database.
    assert.ok(last < done.length - REQUESTS / 4, `${state}: ${last} requests were answered before`)
  }
})

test('update checks for 1,000 hashes have the same responses in parts and compressed', async () => {
  const { hashes } = await addVersions('Bu', HASHES)
  for (const path of ['/v3/version_files/update', '/v3/version_files/update_many', '/v2/version_files/update']) {
    const whole = await t.anyone.post(path, { hashes }, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(whole.headers['content-encoding'], 'gzip')
    const parts = await ask<object>(path, { hashes })
    assert.equal(Object.keys(parts).length, HASHES)
    assert.deepEqual(parts, JSON.parse(gunzipSync(whole.rawPayload).toString()), path)
  }
})

test('clients that read one byte at a time need little memory, and lose their connection if nothing moves', async () => {
  const version = await t.make.version({ project, changelog: 'Changed. '.repeat(LARGE_BYTES / 9) })
  const hashes: string[] = []
  for (let n = 0; n < LARGE_FILES; n += 1)
    hashes.push(
      (
        await t.make.file({
          version,
          project,
          bytes: Buffer.from(`large ${n}`),
          filename: `${n}.jar`,
          primary: n === 0,
        })
      ).sha1,
    )
  await ask('/v3/version_files', { hashes: hashes.slice(0, 1) })
  agent.destroy()
  while (sockets.size > 0) await nextTurn()

  const before = process.memoryUsage().arrayBuffers
  const answers = await Promise.all(Array.from({ length: SLOW }, () => open('/v3/version_files', { hashes })))
  const length = Number(answers[0]?.headers['content-length'])
  assert.ok(length > LARGE_FILES * LARGE_BYTES, String(length))
  const slow = [...sockets]
  // The connections are full when the server waits with a part.
  while (!slow.every(({ writableLength }) => writableLength > 0)) await nextTurn()
  for (const answer of answers) while (answer.read(1) === null) await once(answer, 'readable')
  const grown = process.memoryUsage().arrayBuffers - before
  // Includes parts that were sent and wait for the garbage collector.
  assert.ok(grown < (SLOW * length) / 4, `${grown} bytes for ${SLOW} responses of ${length} bytes`)

  for (const answer of answers) answer.on('error', () => {})
  for (const socket of slow) socket.setTimeout(50)
  while (sockets.size > 0) {
    for (const answer of answers) answer.read(1)
    await nextTurn()
  }
})

test('a client that requests cached responses without reading them stops the server from reading its requests', async () => {
  const path = `/v3/project/${project.id}`
  const { length } = JSON.stringify(await ask(path))
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const line = `GET ${path} HTTP/1.1\r\nHost: x\r\n${Object.entries(HEADERS)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
  // Responses to all of them would need 64 MB.
  socket.pause().write(line.repeat(Math.ceil((64 * 1024 * 1024) / length)))
  const peer = () => [...sockets].find(({ remotePort }) => remotePort === socket.localPort)
  while ((peer()?.writableLength ?? 0) === 0) await nextTurn()
  const { writableLength = 0 } = peer() ?? {}
  assert.ok(writableLength < 4 * 1024 * 1024, `${writableLength} bytes wait for the client`)
  socket.on('error', () => {})
  peer()?.setTimeout(50)
  while (peer() !== undefined) await nextTurn()
  socket.destroy()
})
