// Versions and projects that name uploads in place of form parts.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { idOf, listening, metadata, PART, type TusClient, tusClient } from '#test/support/http/tus-requests.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const person = await t.make.account()
const client = tusClient(t, await listening(t), project.owner)

const send: TusClient['send'] = (...request) => client.send(...request)
const create: TusClient['create'] = (...upload) => client.create(...upload)
const patch: TusClient['patch'] = (...part) => client.patch(...part)
const uploaded: TusClient['uploaded'] = (...file) => client.uploaded(...file)

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

  test('gets proposals from its upload, which stays usable', async () => {
    const manifest = JSON.stringify({ schemaVersion: 1, id: 'lamp', version: '6.1.0' })
    const part = await uploaded(makeZip([{ name: 'fabric.mod.json', data: manifest }]), 'lamp.jar')
    const propose = (body: unknown, as = project.owner) => t.as(as).post('/v3/version/proposals', body)
    const proposals = await propose({ project_id: project.id, file_parts: [part] })
    assert.equal(proposals.statusCode, 200, proposals.body)
    assert.deepEqual([proposals.json().file, proposals.json().version_number.value], ['lamp.jar', '6.1.0'])
    const none = await propose({ project_id: project.id })
    assert.equal(none.json().details.field, 'file')
    const { id: project_id } = await t.make.project({ owner: person })
    const foreign = await propose({ project_id, file_parts: [part] }, person)
    assert.equal(foreign.json().details.field, 'file_parts.0')
    const path = await create(10, metadata('later.jar'))
    const unfinished = await propose({ project_id: project.id, file_parts: [`upload:${idOf(path)}`] })
    assert.match(unfinished.json().details.message, /0 of 10 bytes/)
    assert.equal((await post(data({ version_number: '6.1.0', file_parts: [part] }))).statusCode, 201)
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

  test('that is a draft names an unfinished upload, which expires with it; a published version does not', async () => {
    const bytes = modJar('named')
    const path = await create(bytes.length, metadata('named.jar'))
    const file_parts = [`upload:${idOf(path)}`]
    const draft = (await post({ project_id: project.id, status: 'draft' })).json()
    const add = (id: string) => t.as(project.owner).post(`/v3/version/${id}/file`, { file_parts })
    const published = await t.make.version({ project })
    assert.equal((await add(published.id)).json().details.field, 'file_parts.0')
    assert.equal((await add(draft.id)).statusCode, 204)
    const expires = JSON.parse((await send('GET', path)).body).expires
    assert.ok(Date.parse(expires) > t.deps.now() + 6 * 24 * 60 * 60 * 1000, expires)
    assert.deepEqual((await t.as(project.owner).get(`/v3/version/${draft.id}`)).json().files, [])
    assert.equal((await t.as(project.owner).delete(`/v3/version/${draft.id}`)).statusCode, 204)
    assert.equal((await send('HEAD', path)).status, 404)
    const unnamed = await create(3, { 'upload-metadata': 'filename' })
    const other = await post({ project_id: project.id, status: 'draft', file_parts: [`upload:${idOf(unnamed)}`] })
    assert.match(other.json().details.message, /no file name/)
    await send('DELETE', unnamed)
  })

  test('a dry run of each operation checks the file of an upload, and leaves it', async () => {
    const part = await uploaded(modJar('dry'), 'dry.jar')
    const broken = await uploaded(Buffer.from('not an archive'), 'broken.jar')
    const dry = (path: string, file_parts: string[], fields: Record<string, unknown> = {}) =>
      t.as(project.owner).post(`${path}?dry_run=true`, path.endsWith('/file') ? { file_parts } : fields)
    const version = await t.make.version({ project })
    const of = (file_parts: string[]): [string, string[], Record<string, unknown>][] => [
      ['/v3/version', file_parts, data({ file_parts, version_number: 'dry' })],
      ['/v3/project', file_parts, projectData('dry', { initial_versions: [versionData({ file_parts })] })],
      [`/v3/version/${version.id}/file`, file_parts, {}],
    ]
    for (const request of of([part])) {
      const answer = await dry(...request)
      assert.equal(answer.statusCode, 200, `${request[0]} ${answer.body}`)
      assert.deepEqual([answer.json().valid, answer.json().warnings], [true, []])
    }
    for (const request of of([broken])) {
      const answer = await dry(...request)
      assert.equal(answer.statusCode, 400, `${request[0]} ${answer.body}`)
      assert.match(answer.json().description, /archive/)
    }
    for (const each of [part, broken]) {
      const path = `/v3/upload/${each.slice('upload:'.length)}`
      assert.equal(JSON.parse((await send('GET', path)).body).finished, true)
      assert.equal((await send('DELETE', path)).status, 204)
    }
  })

  test('cannot name an upload of another account, one that does not exist, or one that has expired', async () => {
    const part = await uploaded(modJar('foreign'), 'foreign.jar')
    const other = await t.make.project()
    const refused = [
      t.as(other.owner).post('/v3/version', { ...data({ file_parts: [part] }), project_id: other.id }),
      post(data({ file_parts: ['upload:0123456789012345678901'] })),
      post(data({ file_parts: ['upload:'] })),
    ]
    for (const answer of await Promise.all(refused)) {
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().details.field, 'file_parts.0')
    }
    t.advance(25 * 60 * 60 * 1000)
    assert.equal((await post(data({ file_parts: [part] }))).json().details.field, 'file_parts.0')
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
