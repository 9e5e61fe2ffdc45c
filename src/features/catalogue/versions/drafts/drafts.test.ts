// Drafts: created without number, loaders and files, completed in several requests, then published or deleted.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { type FormFile, form, modJar, versionData } from '#test/support/http/forms.ts'
import { INCOMPLETE_DRAFTS_MAX } from './completeness.ts'

let t: TestApp
let project: MadeProject
let stranger: Person
before(async () => {
  t = await testApp()
  t.freeze()
  project = await t.make.project()
  stranger = await t.make.account()
})
after(() => t.close())

const expire = () => t.runJob('versions.expire-drafts')

async function post(data: Record<string, unknown>, files: FormFile[] = [], person: { token: string } = project.owner) {
  const { payload, headers } = await form({ project_id: project.id, status: 'draft', ...data }, files)
  return t.as(person).post('/v3/version', payload, { headers })
}
async function makeDraft(data: Record<string, unknown> = {}, files: FormFile[] = []): Promise<string> {
  const answer = await post(data, files)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
async function addFile(id: string, bytes: Buffer, filename = 'lantern.jar', person: { token: string } = project.owner) {
  const { payload, headers } = await form({}, [{ name: 'file', filename, bytes }])
  return t.as(person).post(`/v3/version/${id}/file`, payload, { headers })
}
const patch = (id: string, body: object, person: { token: string } = project.owner) =>
  t.as(person).patch(`/v3/version/${id}`, body)
const read = async (id: string) => (await t.as(project.owner).get(`/v3/version/${id}`)).json()
const COMPLETE = { version_number: '2.0.0', name: 'Second light', loaders: ['fabric'], game_versions: ['1.20.1'] }

describe('a draft', () => {
  test('needs nothing but its project, and is completed step by step', async () => {
    const own = await t.make.project({ owner: project.owner })
    const updated = (await t.anyone.get(`/v3/project/${own.id}`)).json().updated
    t.advance(5000)
    const id = await makeDraft({ project_id: own.id })
    const draft = await read(id)
    assert.deepEqual(
      [draft.status, draft.version_number, draft.name, draft.loaders, draft.files, draft.version_type],
      ['draft', '', '', [], [], 'release'],
    )
    assert.equal(draft.draft_expires, new Date(t.deps.now() + 7 * DAY_MS).toISOString())
    assert.equal((await addFile(id, modJar('step by step'))).statusCode, 204)
    assert.equal((await addFile(id, modJar('sources'), 'lantern-sources.jar')).statusCode, 204)
    assert.deepEqual(
      (await read(id)).files.map((file: { filename: string; primary: boolean }) => [file.filename, file.primary]),
      [
        ['lantern.jar', true],
        ['lantern-sources.jar', false],
      ],
    )
    t.advance(1000)
    assert.equal((await patch(id, { game_versions: ['1.20.1'] })).statusCode, 204)
    assert.deepEqual((await read(id)).game_versions, ['1.20.1'], 'a draft without loaders has every field')
    assert.equal((await read(id)).draft_expires, new Date(t.deps.now() + 7 * DAY_MS).toISOString())
    assert.equal((await patch(id, { ...COMPLETE, game_versions: [] })).statusCode, 204)
    assert.equal('game_versions' in (await read(id)), false, 'an empty list means absent')
    await patch(id, COMPLETE)
    assert.equal('draft_expires' in (await read(id)), false, 'a complete draft stays')
    assert.equal((await patch(id, { version_number: null, name: null, loaders: [] })).statusCode, 204)
    assert.ok((await read(id)).draft_expires)
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().updated, updated)
    t.advance(1000)
    t.deps.metrics.figures.take()
    assert.equal((await patch(id, { ...COMPLETE, status: 'listed' })).statusCode, 204)
    assert.equal(t.deps.metrics.figures.take().counts.get('version.published'), 1)
    const published = (await t.anyone.get(`/v3/version/${id}`)).json()
    assert.equal(published.date_published, new Date(t.deps.now()).toISOString())
    assert.equal(published.environment, 'unknown', 'defaults are added')
    assert.deepEqual((await t.anyone.get(`/v3/project/${own.id}`)).json().versions, [id])
  })

  test('is invisible to others', async () => {
    const id = await makeDraft({ version_number: '0.0.1-hidden' })
    const bytes = modJar('invisible')
    await addFile(id, bytes)
    const [{ hashes, url }] = (await read(id)).files
    for (const path of [
      `/v3/version/${id}`,
      `/v2/version/${id}`,
      `/v3/version_file/${hashes.sha1}`,
      new URL(url).pathname,
    ])
      assert.equal((await t.as(stranger).get(path)).statusCode, 404, path)
    for (const path of [`/v3/project/${project.id}/version`, `/v2/project/${project.id}/version`])
      assert.ok(!(await t.as(project.owner).get(path)).body.includes(id), path)
    assert.equal((await t.as(stranger).get(`/v3/project/${project.id}/version/0.0.1-hidden`)).statusCode, 404)
    assert.equal((await t.as(stranger).post('/v3/version_files', { hashes: [hashes.sha1] })).body, '{}')
    assert.equal((await t.as(stranger).get(`/v3/versions?ids=["${id}"]`)).body, '[]')
    assert.equal((await t.as(project.owner).get(`/v2/version/${id}`)).statusCode, 200)
  })

  test('is published by a schedule too', async () => {
    const id = await makeDraft({}, [{ name: 'file', bytes: modJar('scheduled') }])
    const scheduled = { status: 'scheduled', requested_status: 'listed', scheduled_at: new Date(t.deps.now() + DAY_MS) }
    assertError(await patch(id, scheduled), 400, 'validation_error', 'version_number')
    assert.equal((await patch(id, { ...COMPLETE, version_number: '3.0.0', ...scheduled })).statusCode, 204)
    t.advance(DAY_MS)
    await t.runJob('releases.sweep')
    assert.equal((await t.anyone.get(`/v3/version/${id}`)).json().status, 'listed')
  })

  test('changes its primary file, and loses it', async () => {
    const id = await makeDraft({}, [{ name: 'file', filename: 'a.jar', bytes: modJar('primary a') }])
    await addFile(id, modJar('primary b'), 'b.jar')
    const files = (await read(id)).files as { filename: string; hashes: { sha1: string; sha512: string } }[]
    assertError(await patch(id, { primary_file: '0'.repeat(128) }), 400, 'validation_error', 'primary_file')
    const hashOf = (name: string) => files.find(({ filename }) => filename === name)?.hashes.sha512 ?? ''
    assert.equal((await patch(id, { primary_file: hashOf('b.jar').toUpperCase() })).statusCode, 204)
    assert.equal((await read(id)).files[0].filename, 'b.jar')
    const uploader = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: uploader.id, permissions: 1 })
    for (const { hashes } of files)
      assert.equal((await t.as(uploader).delete(`/v3/version_file/${hashes.sha1}?version_id=${id}`)).statusCode, 204)
    assert.deepEqual((await read(id)).files, [])
    assert.equal((await t.as(uploader).delete(`/v3/version/${id}`)).statusCode, 204)
  })
})

describe('publishing a draft', () => {
  test('names every missing field', async () => {
    const id = await makeDraft()
    const answer = await patch(id, { status: 'listed' })
    assertError(answer, 400, 'validation_error', 'files')
    assert.deepEqual(answer.json().details.missing, ['files', 'version_number', 'name', 'loaders'])
    await addFile(id, modJar('missing'))
    const second = await patch(id, { ...COMPLETE, game_versions: [], status: 'unlisted' })
    assert.deepEqual(second.json().details.missing, ['game_versions'])
    assert.equal((await read(id)).version_number, '', 'nothing is saved')
  })

  test('checks the files by the rules of the loaders', async () => {
    const id = await makeDraft({}, [{ name: 'file', bytes: makeZip([{ name: 'readme.txt', data: 'no mod' }]) }])
    const complete = { ...COMPLETE, version_number: '4.0.0', status: 'listed' }
    const warned = await patch(id, complete)
    assertError(warned, 400, 'invalid_input', 'files.0')
    assert.match(warned.json().description, /fabric\.mod\.json/)
    assertError(await patch(id, { ...complete, loaders: ['minecraft'] }), 400, 'invalid_input', 'files.0')
    await addFile(id, modJar('the real one'), 'real.jar')
    const [real, other] = (await read(id)).files
    assert.equal(real.filename, 'real.jar', 'the file with a manifest becomes the primary file')
    const wrong = await patch(id, { ...complete, primary_file: other.hashes.sha512 })
    assertError(wrong, 400, 'invalid_input', 'files.1')
    assert.equal((await patch(id, complete)).statusCode, 204)
    assertError(await patch(id, { primary_file: other.hashes.sha512 }), 400, 'invalid_input', 'files.1')
  })

  test('rejects the number and files of another version, and adds what a pack embeds', async () => {
    const bytes = modJar('twice')
    const first = await post({ ...versionData({ version_number: '5.0.0' }), status: 'listed' }, [
      { name: 'file', bytes },
    ])
    const id = await makeDraft({}, [{ name: 'file', bytes }])
    const answer = await patch(id, { ...COMPLETE, version_number: '5.0.0', status: 'listed' })
    assertError(answer, 409, 'conflict', 'version_number')
    assert.equal(answer.json().details.version_id, first.json().id)
    const index = {
      game: 'minecraft',
      formatVersion: 1,
      versionId: '1',
      name: 'P',
      files: [],
      dependencies: { minecraft: '1.20.1' },
    }
    const pack = makeZip([
      { name: 'modrinth.index.json', data: JSON.stringify(index) },
      { name: 'overrides/mods/inner.jar', data: 'x' },
    ])
    const packId = await makeDraft({}, [{ name: 'file', filename: 'p.mrpack', bytes: pack }])
    const fields = {
      version_number: '1',
      name: 'Pack',
      loaders: ['mrpack'],
      mrpack_loaders: ['fabric'],
      game_versions: ['1.20.1'],
    }
    const published = await patch(packId, { ...fields, status: 'listed' })
    assert.equal(published.statusCode, 204, published.body)
    assert.deepEqual(
      (await read(packId)).dependencies.map(({ file_name }: { file_name: string }) => file_name),
      ['inner.jar'],
    )
  })

  test('happens once, with the files that were checked', async () => {
    const id = await makeDraft({}, [{ name: 'file', bytes: modJar('parallel') }])
    const complete = { ...COMPLETE, version_number: '6.0.0', status: 'listed' }
    const answers = await Promise.all([
      patch(id, complete),
      patch(id, complete),
      addFile(id, modJar('late'), 'late.jar'),
    ])
    const statuses = answers.map(({ statusCode }) => statusCode)
    assert.ok(
      statuses.every((status) => status === 204 || status === 409),
      String(statuses),
    )
    assert.equal(statuses[2], 204)
    if (!statuses.slice(0, 2).includes(204)) assert.equal((await patch(id, complete)).statusCode, 204)
    assert.equal((await t.anyone.get(`/v3/version/${id}`)).json().status, 'listed')
  })

  test('afterwards, the fields are required again', async () => {
    const id = await makeDraft({}, [{ name: 'file', bytes: modJar('no way back') }])
    await patch(id, { ...COMPLETE, version_number: '7.0.0', status: 'listed' })
    assert.equal((await patch(id, { status: 'draft' })).statusCode, 204)
    for (const [field, value] of [
      ['version_number', ''],
      ['name', ''],
      ['loaders', []],
      ['game_versions', []],
    ] as const)
      assertError(await patch(id, { [field]: value }), 400, 'validation_error', field)
    // A field that cannot be empty ignores null.
    assert.equal((await patch(id, { version_number: null, name: null })).statusCode, 204)
    assert.equal((await read(id)).version_number, '7.0.0')
    const [{ hashes }] = (await read(id)).files
    assertError(await t.as(project.owner).delete(`/v3/version_file/${hashes.sha1}`), 400, 'invalid_input', 'hash')
    assert.equal('draft_expires' in (await read(id)), false)
  })
})

describe('limits', () => {
  test('bad input names the field', async () => {
    for (const [field, data] of [
      ['project_id', { project_id: 'AAAAAAAA' }],
      ['version_number', { version_number: 'a b' }],
      ['version_title', { version_title: ' ' }],
      ['loaders.0', { loaders: ['no-loader'] }],
      ['game_versions.0', { game_versions: ['9.9.9'] }],
      ['sparkle', { sparkle: 1 }],
    ] as const)
      assertError(await post(data), 400, 'validation_error', field)
    assertError(await post({ file_parts: ['file'] }), 400, 'invalid_input', 'file')
    const unzipped = await post({}, [{ name: 'file', bytes: Buffer.from('no archive') }])
    assertError(unzipped, 400, 'invalid_input', 'file')
    assertError(await post({ status: 'listed' }), 400, 'validation_error', 'version_number')
  })

  test('wants its scope and permission', async () => {
    assertError(await post({}, [], stranger), 403, 'unauthorized')
    assert.equal((await post({}, [], await t.make.pat(project.owner, ALL_SCOPES - 16_384))).statusCode, 403)
    const id = await makeDraft()
    assert.equal((await addFile(id, modJar('stranger'), 'x.jar', stranger)).statusCode, 404)
    assert.equal((await patch(id, { name: 'x' }, stranger)).statusCode, 404)
  })

  test('an incomplete draft is deleted seven days after its last change, with its files', async () => {
    const id = await makeDraft({}, [{ name: 'file', bytes: modJar('forgotten') }])
    const other = await makeDraft()
    const { storage_key } = await t.deps.db
      .selectFrom('file')
      .select('storage_key')
      .where('version_id', '=', id)
      .executeTakeFirstOrThrow()
    t.advance(7 * DAY_MS - 1000)
    assert.equal((await patch(other, { name: 'Still wanted' })).statusCode, 204)
    await expire()
    assert.equal((await read(id)).id, id)
    t.advance(1000)
    await expire()
    await t.runJobs()
    assert.equal((await t.as(project.owner).get(`/v3/version/${id}`)).statusCode, 404)
    assert.equal(await t.deps.files.stat(storage_key), undefined)
    assert.equal((await read(other)).name, 'Still wanted')
    await expire()
  })

  test('a project has a limited number of incomplete drafts, and deleting it removes them', async () => {
    const own = await t.make.project({ owner: project.owner })
    const id = await makeDraft({ project_id: own.id }, [{ name: 'file', bytes: modJar('goes along') }])
    const row = await t.deps.db.selectFrom('version').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const copies = Array.from({ length: INCOMPLETE_DRAFTS_MAX - 1 }, (_, index) => ({
      ...row,
      id: `copy${String(index).padStart(4, '0')}`,
      fields: '{}',
    }))
    await t.deps.db.insertInto('version').values(copies).execute()
    assertError(await post({ project_id: own.id }), 400, 'invalid_input', 'status')
    assert.equal((await t.as(project.owner).delete(`/v3/version/${id}`)).statusCode, 204)
    await makeDraft({ project_id: own.id })
    assert.equal((await t.as(project.owner).delete(`/v3/project/${own.id}`)).statusCode, 204)
    const left = await t.deps.db.selectFrom('version').select('id').where('project_id', '=', own.id).execute()
    assert.deepEqual(left, [])
  })
})
