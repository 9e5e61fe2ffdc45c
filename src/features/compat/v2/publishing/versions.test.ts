// Publishing and editing versions through the v2 API, read through both APIs.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { form, modJar, versionData, versionDataV2 } from '#test/support/http/forms.ts'
import { packFile, publishVersionV2 } from '#test/support/http/v2-steps.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const stranger = await t.make.account()

let salt = 0
const jar = () => {
  salt += 1
  return { name: 'file', filename: `light-${salt}.jar`, bytes: modJar(String(salt)) }
}
const publish = (fields: object = {}, files = [jar()], person: { token: string } = project.owner) =>
  publishVersionV2(t.as(person), { project_id: project.id, ...fields }, files)
async function published(fields: object = {}, files = [jar()]) {
  const answer = await publish(fields, files)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const read = async (path: string) => (await t.as(project.owner).get(path)).json()
async function assertRefused(answer: { statusCode: number; json(): Record<string, never> }, field: string) {
  const { details, description } = answer.json() as { details?: { field?: string }; description?: string }
  assert.deepEqual([answer.statusCode, details?.field], [400, field], description)
}

describe('publishing', () => {
  test('a version is answered with 200, in its older shape, and both APIs show it', async () => {
    const version = await published({ name: 'Second light', changelog: 'More of it.', featured: true })
    assert.deepEqual(
      [version.name, version.changelog, version.version_type, version.featured, version.game_versions, version.loaders],
      ['Second light', 'More of it.', 'release', true, ['1.20.1'], ['fabric']],
    )
    assert.equal(version.files.length, 1)
    assert.deepEqual(await read(`/v2/version/${version.id}`), version)
    assert.equal((await read(`/v3/version/${version.id}`)).name, 'Second light')
  })

  test('older names of keys count, unknown keys and null are ignored', async () => {
    const { payload, headers } = await form(
      {
        mod_id: project.id,
        version_number: '2.0.0',
        version_title: 'By the old names',
        version_body: 'Old.',
        release_channel: 'beta',
        loaders: ['fabric'],
        game_versions: ['1.20.1'],
        file_parts: ['file'],
        featured: null,
        status: null,
        requested_status: 'listed',
        anything: { else: true },
      },
      [jar()],
    )
    const answer = await t.as(project.owner).post('/v2/version', payload, { headers })
    assert.equal(answer.statusCode, 200, answer.body)
    const { name, changelog, version_type, featured, status } = answer.json()
    assert.deepEqual(
      [name, changelog, version_type, featured, status],
      ['By the old names', 'Old.', 'beta', false, 'listed'],
    )
  })

  test('without an environment it is that of the newest version of the project', async () => {
    const own = await t.make.project({ owner: project.owner })
    const first = await published({ project_id: own.id, environment: 'client_only' })
    assert.equal(first.environment, 'client_only')
    const second = await published({ project_id: own.id })
    assert.equal(second.environment, 'client_only')
    assert.equal((await published()).environment, 'unknown')
  })

  for (const [name, fields, file] of [
    ['a part', { file_parts: ['light.mrpack'] }, { name: 'light.mrpack', filename: 'light.mrpack' }],
    ['the part of a pack', { file_parts: ['mrpack-primary'] }, { name: 'mrpack-primary', filename: 'a.mrpack' }],
    ['a file alone', { file_parts: ['primary'] }, { name: 'primary', filename: 'Light.MRPACK' }],
  ] as const) {
    test(`a pack is known by the name of ${name}, and its loaders are those inside`, async () => {
      const pack = await t.make.project({ owner: project.owner })
      const sent = { project_id: pack.id, loaders: ['quilt', 'fabric'], ...fields }
      const version = await published(sent, [{ ...file, bytes: packFile(name) }])
      assert.deepEqual(version.loaders, ['quilt', 'fabric'])
      const newer = await read(`/v3/version/${version.id}`)
      assert.deepEqual([newer.loaders, newer.mrpack_loaders], [['mrpack'], ['quilt', 'fabric']])
      assert.equal((await read(`/v2/project/${pack.id}`)).project_type, 'modpack')
      const edit = await t.as(project.owner).patch(`/v2/version/${version.id}`, { loaders: ['forge'] })
      assert.equal(edit.statusCode, 204, edit.body)
      const edited = await read(`/v3/version/${version.id}`)
      assert.deepEqual([edited.loaders, edited.mrpack_loaders], [['mrpack'], ['forge']])
    })
  }

  test('errors use the names that the client sent, and nothing is stored', async () => {
    const before = (await read(`/v2/project/${project.id}`)).versions
    const cases: [object, string][] = [
      [{ name: '  ' }, 'name'],
      [{ name: 'x'.repeat(65) }, 'name'],
      [{ version_number: 'a b' }, 'version_number'],
      [{ version_number: 'x'.repeat(33) }, 'version_number'],
      [{ version_type: 'nightly' }, 'version_type'],
      [{ changelog: 7 }, 'changelog'],
      [{ loaders: ['forgery'] }, 'loaders.0'],
      [{ loaders: [] }, 'loaders'],
      [{ game_versions: ['0.0.0'] }, 'game_versions.0'],
      [{ game_versions: [] }, 'game_versions'],
      [{ game_versions: undefined }, 'game_versions'],
      [{ environment: 'nowhere' }, 'environment'],
      [{ featured: 'true' }, 'featured'],
      [{ dependencies: [{ dependency_type: 'required' }] }, 'dependencies.0'],
      [{ project_id: undefined }, 'project_id'],
      [{ project_id: 'no such id!' }, 'project_id'],
      [{ file_parts: ['file', 'absent'] }, 'absent'],
      [{ file_parts: ['light.mrpack'], loaders: ['forgery'] }, 'loaders.0'],
    ]
    for (const [fields, field] of cases) await assertRefused(await publish(fields), field)
    assert.deepEqual((await read(`/v2/project/${project.id}`)).versions, before)
  })

  test('a pack that only its file name shows is held to the rules of packs, and nothing of it stays', async () => {
    const file = { name: 'primary', filename: 'a.mrpack', bytes: packFile('odd', { overrides: false }) }
    await assertRefused(await publish({ file_parts: ['primary'], loaders: ['fabric'] }, [file]), 'primary')
    const staging = join(t.deps.config.dataDir, 'files', 'staging')
    assert.deepEqual(await readdir(staging), [])
  })

  test('a body with the keys of the v3 API misses those of the older one, and the reverse', async () => {
    const newer = await form({ ...versionData(), project_id: project.id, name: undefined }, [jar()])
    const ok = await t.as(project.owner).post('/v2/version', newer.payload, { headers: newer.headers })
    assert.equal(ok.statusCode, 200, ok.body)
    const older = await t.as(project.owner).patch(`/v2/version/${ok.json().id}`, { version_title: 'Ignored' })
    assert.equal(older.statusCode, 204)
    assert.equal((await read(`/v2/version/${ok.json().id}`)).name, 'First light')
  })

  test('a form can be called multipart/mixed, as some clients do', async () => {
    const { payload, headers } = await form(versionDataV2({ project_id: project.id, name: 'Mixed' }), [jar()])
    const mixed = { 'content-type': headers['content-type'].replace('form-data', 'mixed') }
    const answer = await t.as(project.owner).post('/v2/version', payload, { headers: mixed })
    assert.deepEqual([answer.statusCode, answer.json().name], [200, 'Mixed'])
    const more = await form({}, [{ name: 'more', filename: 'mixed.jar', bytes: modJar('mixed') }])
    const moreMixed = { 'content-type': more.headers['content-type'].replace('form-data', 'mixed') }
    const path = `/v2/version/${answer.json().id}/file`
    assert.equal((await t.as(project.owner).post(path, more.payload, { headers: moreMixed })).statusCode, 204)
  })

  test('without a token, a scope or the permission nothing is published', async () => {
    const { payload, headers } = await form({ project_id: project.id }, [jar()])
    assert.equal((await t.anyone.post('/v2/version', payload, { headers })).statusCode, 401)
    assert.equal((await publish({}, [jar()], await t.make.pat(project.owner, 0))).statusCode, 403)
    assert.equal((await publish({}, [jar()], stranger)).statusCode, 403)
    const hidden = await t.make.project({ status: 'draft' })
    await assertRefused(await publish({ project_id: hidden.id }, [jar()], stranger), 'project_id')
    const json = await t.as(project.owner).post('/v2/version', { name: 'x' })
    assert.ok([400, 415].includes(json.statusCode), json.body)
  })
})

describe('editing', () => {
  test('every field of an edit is saved, and null or unknown keys change nothing', async () => {
    const { id, files, ...version } = await published()
    const edit = {
      name: 'Renamed',
      version_number: '9.0.0',
      changelog: 'Rewritten.',
      version_type: 'alpha',
      game_versions: ['1.20.2'],
      loaders: ['quilt'],
      featured: true,
      status: 'unlisted',
    }
    const owner = t.as(project.owner)
    assert.equal((await owner.patch(`/v2/version/${id}`, edit)).statusCode, 204)
    const later = await read(`/v2/version/${id}`)
    for (const [field, value] of Object.entries(edit)) assert.deepEqual(later[field], value, field)
    const sha1 = files[0].hashes.sha1
    const typed = { file_types: [{ algorithm: 'sha1', hash: sha1, file_type: 'sources-jar' }] }
    assert.equal((await owner.patch(`/v2/version/${id}`, typed)).statusCode, 204)
    assert.equal((await read(`/v2/version/${id}`)).files[0].file_type, 'sources-jar')
    const { downloads: _, ...back } = later
    const again = await owner.patch(`/v2/version/${id}`, { ...back, changelog: null, primary_file: ['sha1', sha1] })
    assert.equal(again.statusCode, 204, again.body)
    assert.equal((await read(`/v2/version/${id}`)).changelog, 'Rewritten.')
    assert.equal(version.project_id, project.id)
    for (const [field, value] of [
      ['name', ' '],
      ['version_type', 'nightly'],
      ['featured', 'yes'],
    ] as const)
      await assertRefused(await owner.patch(`/v2/version/${id}`, { [field]: value }), field)
    await assertRefused(await owner.patch(`/v2/version/${id}`, { loaders: ['forgery'] }), 'loaders.0')
  })

  test('files are added and deleted, a version is scheduled and deleted', async () => {
    const owner = t.as(project.owner)
    const { id } = await published()
    const second = { name: 'more', filename: 'more.jar', bytes: modJar('more') }
    const { payload, headers } = await form({ file_types: { more: 'sources-jar' } }, [second])
    assert.equal((await owner.post(`/v2/version/${id}/file`, payload, { headers })).statusCode, 204)
    const { files } = await read(`/v2/version/${id}`)
    assert.deepEqual(
      files.map((file: { file_type: string | null }) => file.file_type),
      [null, 'sources-jar'],
    )
    const sha1 = files[1].hashes.sha1
    const address = `/v2/version_file/${sha1}?algorithm=%22sha1%22`
    assert.equal((await t.as(stranger).delete(address)).statusCode, 403)
    assert.equal((await owner.delete(address)).statusCode, 204)
    assert.equal((await owner.delete(address)).statusCode, 404)
    const time = new Date(Date.now() + 3_600_000).toISOString()
    const path = `/v2/version/${id}/schedule`
    await assertRefused(await owner.post(path, { time: '2001-01-01T00:00:00Z', requested_status: 'listed' }), 'time')
    assert.equal((await t.as(stranger).post(path, { time, requested_status: 'listed' })).statusCode, 403)
    assert.equal((await owner.post(path, { time, requested_status: 'listed' })).statusCode, 204)
    const scheduled = await read(`/v2/version/${id}`)
    assert.deepEqual([scheduled.status, scheduled.requested_status], ['scheduled', 'listed'])
    const hidden = await t.as(stranger).delete(`/v2/version/${id}`)
    assert.deepEqual([hidden.statusCode, hidden.body], [404, ''])
    assert.equal((await owner.delete(`/v2/version/${id}`)).statusCode, 204)
    const gone = await owner.patch(`/v2/version/${id}`, { name: 'Gone' })
    assert.deepEqual([gone.statusCode, gone.body], [404, ''])
    const absent = await owner.post(`/v2/version/${id}/file`, payload, { headers })
    assert.deepEqual([absent.statusCode, absent.json().error], [404, 'not_found'])
  })

  test('rejects callers who cannot edit', async () => {
    const { id } = await published()
    assert.equal((await t.anyone.patch(`/v2/version/${id}`, { name: 'x' })).statusCode, 401)
    assert.equal((await t.as(stranger).patch(`/v2/version/${id}`, { name: 'x' })).statusCode, 403)
    const pat = await t.make.pat(project.owner, ALL_SCOPES)
    assert.equal((await t.as(pat).patch(`/v2/version/${id}`, { name: 'x' })).statusCode, 204)
    await assertForbidden(id)
  })

  async function assertForbidden(id: string) {
    const answer = await t.as(project.owner).patch(`/v2/version/${id}`, { downloads: 5 })
    assert.equal(answer.statusCode, 403)
  }
})
