// Several files as one archive: its content, permissions, counted downloads and limits.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { type Entry, fromBufferPromise } from 'yauzl'
import { newId } from '#lib/ids.ts'
import type { Files } from '#ports/files/files.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

let t: TestApp
let owner: Person
/** Opens of the store that have not been closed. */
let open = 0
let failing: string | undefined
before(async () => {
  t = await testApp({ deps: ({ files }) => ({ files: watched(files) }) })
  owner = await t.make.account()
})
after(() => t?.close())

function watched(files: Files): Files {
  return {
    ...files,
    open: async (key, range) => {
      const opened = await files.open(key, range)
      if (opened === undefined) return undefined
      open += 1
      opened.stream.once('close', () => {
        open -= 1
      })
      if (failing !== undefined && key.includes(failing)) opened.stream.destroy(new Error('The disk failed'))
      return opened
    },
  }
}

type Made = { project: MadeProject; version: { id: string } }

/** Creates a listed version with these files, by default in a new project. */
async function make(
  files: Record<string, string | Uint8Array>,
  fields: Partial<Parameters<TestApp['make']['version']>[0]> & { status?: string } = {},
): Promise<Made> {
  const project = fields.project ?? (await t.make.project({ owner }))
  const version = await t.make.version({ ...fields, project })
  for (const [index, [filename, content]] of Object.entries(files).entries()) {
    // The same bytes belong to one project.
    const bytes = typeof content === 'string' ? Buffer.from(`${content} ${version.id}`) : content
    await t.make.file({ version, project, filename, bytes, primary: index === 0 })
  }
  return { project, version }
}

async function needs({ version }: Made, needed: Made, exactly = false, type = 'required'): Promise<void> {
  await t.deps.db
    .insertInto('dependency')
    .values({
      dependent_id: version.id,
      project_id: needed.project.id,
      version_id: exactly ? needed.version.id : null,
      dependency_type: type as 'required',
    })
    .execute()
}

const archive = ({ version }: Made, query: Record<string, string> = {}, client = t.anyone) =>
  client.get(`/v3/version/${version.id}/archive`, { query })

/** Returns names and contents, read by a separate library that checks checksums and sizes. */
async function unpack(bytes: Buffer): Promise<Record<string, string>> {
  const zip = await fromBufferPromise(bytes)
  const found: Record<string, string> = {}
  for await (const entry of zip.eachEntry() as AsyncIterable<Entry>) {
    assert.equal(entry.compressionMethod, 0)
    found[entry.fileName] = (await buffer(await zip.openReadStreamPromise(entry))).toString()
  }
  return found
}

const namesIn = async (answer: { rawPayload: Buffer }) => Object.keys(await unpack(answer.rawPayload))

describe('a version', () => {
  test('all its files or some, the primary one first, with its size and a tag', async () => {
    const own = await make({ 'lantern.jar': 'jar', 'größe "1".zip': 'extra', 'sources.jar': '' })
    const answer = await archive(own)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(await unpack(answer.rawPayload), {
      'lantern.jar': `jar ${own.version.id}`,
      'größe "1".zip': `extra ${own.version.id}`,
      'sources.jar': ` ${own.version.id}`,
    })
    assert.equal(answer.headers['content-length'], String(answer.rawPayload.length))
    assert.equal(answer.headers['content-type'], 'application/zip')
    assert.equal(answer.headers['cache-control'], 'public, max-age=0, must-revalidate')
    assert.match(
      String(answer.headers['content-disposition']),
      new RegExp(`^attachment; filename="${own.project.slug}-1.0.0.zip"`),
    )
    assert.deepEqual(await namesIn(await archive(own, { files: '["sources.jar"]' })), ['sources.jar'])
    const etag = String(answer.headers.etag)
    const again = await t.anyone.get(`/v3/version/${own.version.id}/archive`, { headers: { 'if-none-match': etag } })
    assert.deepEqual([again.statusCode, again.body], [304, ''])
  })

  test('with its required dependencies, recursively, for the same setup', async () => {
    const [own, library, deeper, optional] = [
      await make({ 'own.jar': 'own' }),
      await make({ 'library.jar': 'fabric' }),
      await make({ 'deeper.jar': 'deeper', 'deeper-sources.jar': 'x' }),
      await make({ 'optional.jar': 'optional' }),
    ]
    await make(
      { 'library-forge.jar': 'forge' },
      { project: library.project, loaders: ['forge'], version_number: '2', date_published: new Date('2099-01-01') },
    )
    await make(
      { 'library-new.jar': 'new' },
      {
        project: library.project,
        game_versions: ['1.21'],
        version_number: '3',
        date_published: new Date('2099-01-01'),
      },
    )
    await needs(own, library)
    await needs(own, optional, false, 'optional')
    await needs(library, deeper)
    await needs(deeper, own)
    assert.deepEqual(await namesIn(await archive(own)), ['own.jar'])
    const all = await archive(own, { dependencies: 'true' })
    assert.deepEqual(await namesIn(all), ['own.jar', 'library.jar', 'deeper.jar'])
    const newer = await archive(own, { dependencies: 'true', game_versions: '["1.21"]' })
    assert.deepEqual(await namesIn(newer), ['own.jar', 'library-new.jar'], 'deeper is only required by the older one')
    assert.notEqual(newer.headers.etag, all.headers.etag)
    const forge = await archive(own, { dependencies: 'true', loaders: '["forge"]' })
    assert.deepEqual(await namesIn(forge), ['own.jar', 'library-forge.jar'])
    const none = await archive(own, { dependencies: 'true', loaders: '["quilt"]' })
    assert.deepEqual(await namesIn(none), ['own.jar'])
  })

  test('the version that a dependency names, whatever is newer; and both of two files with one name', async () => {
    const [own, library] = [await make({ 'same.jar': 'own' }), await make({ 'Same.jar': 'old' })]
    await make({ 'new.jar': 'new' }, { project: library.project, date_published: new Date('2099-01-01') })
    await needs(own, library, true)
    const names = await namesIn(await archive(own, { dependencies: 'true' }))
    assert.deepEqual(names, ['same.jar', `${library.version.id}-Same.jar`])
    // Composed and decomposed letters are one name on macOS.
    const [composed, decomposed] = [await make({ 'é.jar': 'nfc' }), await make({ 'e\u0301.jar': 'nfd' })]
    await needs(composed, decomposed)
    const both = await namesIn(await archive(composed, { dependencies: 'true' }))
    assert.deepEqual(both, ['é.jar', `${decomposed.version.id}-e\u0301.jar`])
  })

  test('counts as downloaded once, and so does what comes with it; a part of a visit does not', async () => {
    const [own, library] = [await make({ 'a.jar': 'a', 'b.jar': 'b' }), await make({ 'c.jar': 'c' })]
    await needs(own, library)
    const { etag } = (await archive(own, { dependencies: 'true' })).headers
    const url = `/v3/version/${own.version.id}/archive`
    const headers = { 'user-agent': 'x', 'x-ratelimit-key': BYPASS_KEY }
    const head = await t.inject({ method: 'HEAD', url, headers })
    assert.deepEqual([head.statusCode, head.body], [200, ''])
    assert.ok(Number(head.headers['content-length']) > 100)
    await t.anyone.get(url, { query: { dependencies: true }, headers: { 'if-none-match': String(etag) } })
    await t.deps.events.flush()
    for (const { project, version } of [own, library]) {
      assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().downloads, 1)
      assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().downloads, 1)
    }
  })

  test('hidden versions and dependencies are not included', async () => {
    const own = await make({ 'own.jar': 'own' })
    const secret = await make({ 'secret.jar': 's' }, { project: await t.make.project({ owner, status: 'draft' }) })
    await needs(own, secret)
    const dependencies = 'true'
    assert.deepEqual(await namesIn(await archive(own, { dependencies })), ['own.jar'])
    const mine = await archive(own, { dependencies }, t.as(owner))
    assert.deepEqual(await namesIn(mine), ['own.jar', 'secret.jar'])
    assert.match(String(mine.headers['cache-control']), /^private/)
    assert.equal((await archive(secret)).statusCode, 404)
    assert.equal((await archive(secret, {}, t.as(await t.make.account()))).statusCode, 404)
    assert.equal((await archive(secret, {}, t.as(owner))).statusCode, 200)
    assert.equal((await archive(secret, {}, t.as(await t.make.pat(owner, 0)))).statusCode, 404, 'a token without scope')
    const draft = await make({ 'draft.jar': 'd' }, { project: own.project, status: 'draft' })
    assert.equal((await archive(draft)).statusCode, 404)
  })

  test('bad requests name the field', async () => {
    const own = await make({ 'own.jar': 'own' })
    for (const [query, field] of [
      [{ files: '["other.jar"]' }, 'files'],
      [{ files: 'own.jar' }, 'files'],
      [{ files: '[1]' }, 'files.0'],
      [{ loaders: '{', dependencies: 'true' }, 'loaders'],
      [{ game_versions: '"x"', dependencies: 'true' }, 'game_versions'],
      [{ dependencies: 'yes' }, 'dependencies'],
    ] as const) {
      const answer = await archive(own, query)
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'invalid_input', field],
      )
    }
    const ill = await t.anyone.get('/v3/version/not-an-id/archive')
    assert.deepEqual([ill.statusCode, ill.json().error], [400, 'decoding_error'])
    assert.equal((await t.anyone.get(`/v3/version/${newId()}/archive`)).statusCode, 404)
    const empty = await make({})
    assert.equal((await archive(empty)).statusCode, 404)
    assert.equal((await archive(own, { files: '[]' })).statusCode, 404)
  })

  test('more than 4 GiB, or than 512 files, are rejected before anything is read', async () => {
    const big = await make({ 'big.jar': 'b' })
    const size = 4 * 1024 ** 3 + 1
    await t.deps.db.updateTable('file').set({ size_bytes: size }).where('version_id', '=', big.version.id).execute()
    const answer = await archive(big)
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'files'])
    const many = await make({ 'first.jar': 'f' })
    await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
      select 'M' || number, version_id, number || '.jar', size_bytes, sha1, sha512, false, content_type, 'none/' || number
      from file, generate_series(2, 513) number where version_id = ${many.version.id}`.execute(t.deps.db)
    assert.match((await archive(many)).json().description, /at most 512 files/)
  })

  test('a statement more does not come with each dependency', async () => {
    const own = await make({ 'own.jar': 'own' })
    const count = async () => {
      const { queries } = await t.queriesOf(() => archive(own, { dependencies: 'true' }))
      return queries.length
    }
    await needs(own, await make({ 'a.jar': 'a' }))
    await count()
    const one = await count()
    for (let i = 0; i < 8; i += 1) await needs(own, await make({ [`b${i}.jar`]: 'b' }))
    await count()
    assert.equal(await count(), one)
  })
})

describe('a collection', () => {
  test('the newest file of each project for a setup, in its order, and nothing that its reader cannot see', async () => {
    const [first, second, hidden] = [
      await make({ 'first.jar': '1' }),
      await make({ 'second.jar': '2' }, { loaders: ['forge'] }),
      await make({ 'hidden.jar': 'h' }, { project: await t.make.project({ owner, status: 'private' }) }),
    ]
    await needs(first, await make({ 'needed.jar': 'n' }))
    const id = newId()
    const values = { id, account_id: owner.id, name: 'Lights: all', status: 'unlisted' as const }
    await t.deps.db.insertInto('collection').values(values).execute()
    await t.deps.db
      .insertInto('collection_project')
      .values(
        [second, first, hidden].map(({ project }, position) => ({
          collection_id: id,
          project_id: project.id,
          position,
        })),
      )
      .execute()
    const url = `/v3/collection/${id}/archive`
    const all = await t.anyone.get(url)
    assert.deepEqual(await namesIn(all), ['second.jar', 'first.jar'])
    assert.match(String(all.headers['content-disposition']), /filename="Lights_ all.zip"/)
    const fabric = { loaders: '["fabric"]', dependencies: 'true' }
    assert.deepEqual(await namesIn(await t.anyone.get(url, { query: fabric })), ['first.jar', 'needed.jar'])
    assert.deepEqual(await namesIn(await t.as(owner).get(url)), ['second.jar', 'first.jar', 'hidden.jar'])
    assert.equal((await t.anyone.get(url, { query: { loaders: '["paper"]' } })).statusCode, 404)
    await t.deps.db.updateTable('collection').set({ status: 'private' }).where('id', '=', id).execute()
    assert.equal((await t.anyone.get(url)).statusCode, 404)
    assert.equal((await t.as(owner).get(url)).statusCode, 200)
    assert.equal((await t.anyone.get('/v3/collection/x!/archive')).json().error, 'decoding_error')
  })
})

describe('while it is read', () => {
  /** A request over a socket, which alone shows what becomes of the connection. */
  async function request(path: string): Promise<IncomingMessage> {
    if (!t.app.server.listening) await t.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = t.app.server.address() as AddressInfo
    const headers = { 'user-agent': 'x', 'x-ratelimit-key': BYPASS_KEY }
    const [answer] = await once(httpGet({ port, path, headers, agent: false }), 'response')
    return answer as IncomingMessage
  }

  test('a reader who leaves closes the file that was open', async () => {
    const own = await make({ 'big.jar': Buffer.alloc(32 * 1024 * 1024, 7), 'more.jar': 'm' })
    const answer = await request(`/v3/version/${own.version.id}/archive`)
    while (open === 0) await new Promise(setImmediate)
    assert.equal(answer.complete, false)
    answer.destroy()
    while (open > 0) await new Promise(setImmediate)
  })

  test('a file that cannot be read ends the answer short of its length', async () => {
    const own = await make({ 'good.jar': 'good', 'bad.jar': 'bad' })
    const { id, storage_key } = await t.deps.db
      .selectFrom('file')
      .select(['id', 'storage_key'])
      .where('version_id', '=', own.version.id)
      .where('filename', '=', 'bad.jar')
      .executeTakeFirstOrThrow()
    failing = id
    const cut = async () => {
      const answer = await request(`/v3/version/${own.version.id}/archive`)
      assert.equal(answer.statusCode, 200)
      await assert.rejects(buffer(Readable.from(answer)), /aborted/)
    }
    await cut()
    failing = undefined
    await t.deps.files.remove(storage_key)
    await cut()
    while (open > 0) await new Promise(setImmediate)
  })

  test('a store that has lost the first file is an error and no archive', async () => {
    const own = await make({ 'lost.jar': 'lost' })
    const { storage_key } = await t.deps.db
      .selectFrom('file')
      .select('storage_key')
      .where('version_id', '=', own.version.id)
      .executeTakeFirstOrThrow()
    await t.deps.files.remove(storage_key)
    const answer = await archive(own)
    assert.deepEqual(
      [answer.statusCode >= 500 || answer.statusCode === 424, answer.json().error],
      [true, 'file_hosting_error'],
    )
  })
})
