// PATCH and DELETE of versions, and their effects on other resources.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { modJar } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const stranger = await t.make.account()
const moderator = await t.make.account({ role: 'moderator' })
const project = await t.make.project()

const patch = (version: { id: string }, body: unknown, person: { token: string } = project.owner) =>
  t.as(person).patch(`/v3/version/${version.id}`, body)
const read = async (version: { id: string }) => (await t.as(project.owner).get(`/v3/version/${version.id}`)).json()

describe('editing', () => {
  test('saves each field, and a warm reader sees it immediately', async () => {
    const version = await t.make.version({ project })
    const other = await t.make.project()
    await read(version)
    const body = {
      name: 'New name',
      version_number: '2.0.0',
      changelog: 'Other changes',
      version_type: 'beta',
      dependencies: [{ project_id: other.id, dependency_type: 'optional' }],
      loaders: ['forge', 'neoforge'],
      featured: true,
      ordering: 7,
      game_versions: ['1.21'],
      environment: 'client_only',
    }
    assert.equal((await patch(version, body)).statusCode, 204)
    const after = await read(version)
    for (const key of [
      'name',
      'version_number',
      'changelog',
      'version_type',
      'featured',
      'ordering',
      'game_versions',
      'environment',
      'loaders',
    ] as const)
      assert.deepEqual(after[key], body[key], key)
    assert.equal(after.dependencies[0].project_id, other.id)
    assert.equal((await patch(version, { ordering: null, dependencies: [] })).statusCode, 204)
    assert.equal((await read(version)).ordering, null)
    assert.deepEqual((await read(version)).dependencies, [])
    assert.deepEqual((await t.anyone.get(`/v3/project/${project.id}`)).json().loaders, ['forge', 'neoforge'])
  })

  const refused: [string, unknown][] = [
    ['name', { name: '' }],
    ['name', { name: '  ' }],
    ['name', { name: 'a'.repeat(65) }],
    ['version_number', { version_number: 'a b' }],
    ['changelog', { changelog: 'a'.repeat(65_537) }],
    ['version_type', { version_type: 'gamma' }],
    ['loaders', { loaders: [] }],
    ['loaders.0', { loaders: ['no-such'] }],
    ['featured', { featured: 1 }],
    ['status', { status: 'unknown' }],
    ['ordering', { ordering: 'first' }],
    ['dependencies.0.project_id', { dependencies: [{ project_id: 'AAAAAAAA', dependency_type: 'required' }] }],
    ['file_types.0.algorithm', { file_types: [{ algorithm: 'md5', hash: 'x', file_type: null }] }],
    ['file_types.0.hash', { file_types: [{ algorithm: 'sha1', hash: 'f'.repeat(40), file_type: null }] }],
    ['primary_file', { primary_file: 'file' }],
    ['game_versions', { game_versions: [] }],
    ['game_versions.0', { game_versions: ['9.9.9'] }],
    ['environment', { environment: 'nowhere' }],
    ['scheduled_at', { status: 'scheduled', requested_status: 'listed' }],
    ['requested_status', { status: 'scheduled', scheduled_at: '2999-01-01T00:00:00Z' }],
  ]
  for (const [field, body] of refused) {
    test(`${JSON.stringify(body).slice(0, 60)} is rejected, naming ${field}, and nothing is saved`, async () => {
      const version = await t.make.version({ project })
      const answer = await patch(
        version,
        field.startsWith('changelog') ? body : { changelog: 'must not be saved', ...(body as object) },
      )
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'validation_error')
      assert.equal(answer.json().details.field, field, answer.body)
      assert.equal((await read(version)).changelog, 'Changes.')
    })
  }

  test('a version cannot depend on itself', async () => {
    const version = await t.make.version({ project })
    const answer = await patch(version, { dependencies: [{ version_id: version.id, dependency_type: 'required' }] })
    assert.equal(answer.statusCode, 400)
  })

  test('files of the version can be retagged, by either hash', async () => {
    const version = await t.make.version({ project })
    const file = await t.make.file({ version, project, bytes: modJar('retag') })
    assert.equal(
      (
        await patch(version, {
          file_types: [{ algorithm: 'sha1', hash: file.sha1.toUpperCase(), file_type: 'sources-jar' }],
        })
      ).statusCode,
      204,
    )
    assert.equal((await read(version)).files[0].file_type, 'sources-jar')
    await patch(version, { file_types: [{ algorithm: 'sha512', hash: file.sha512, file_type: null }] })
    assert.equal((await read(version)).files[0].file_type, null)
  })

  test('only moderators set downloads, and the project’s total moves with it', async () => {
    const own = await t.make.project()
    const version = await t.make.version({ project: own })
    assert.equal((await patch(version, { downloads: 5 }, own.owner)).statusCode, 403)
    assert.equal((await patch(version, { downloads: 5 }, moderator)).statusCode, 204)
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().downloads, 5)
    await patch(version, { downloads: 2 }, moderator)
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().downloads, 2)
  })

  test('wants its scope and permission, and hides what is hidden', async () => {
    const version = await t.make.version({ project })
    const draft = await t.make.version({ project, status: 'draft' })
    const helper = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 1 })
    assert.equal((await t.anyone.patch(`/v3/version/${version.id}`, { name: 'x' })).statusCode, 401)
    assert.equal(
      (await patch(version, { name: 'x' }, await t.make.pat(project.owner, ALL_SCOPES - 65_536))).statusCode,
      403,
    )
    assert.equal((await patch(version, { name: 'x' }, stranger)).statusCode, 403)
    assert.equal((await patch(draft, { name: 'x' }, stranger)).statusCode, 404)
    assert.equal((await patch({ id: 'AAAAAAAA' }, { name: 'x' })).statusCode, 404)
    assert.equal((await patch({ id: 'no-id' }, { name: 'x' })).json().error, 'decoding_error')
    assert.equal((await patch(version, { name: 'By helper' }, helper)).statusCode, 204)
    assert.equal((await patch(version, { name: 'By moderator' }, moderator)).statusCode, 204)
  })

  test('a version that is no longer listed leaves the project’s list', async () => {
    const own = await t.make.project()
    const version = await t.make.version({ project: own })
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().versions.length, 1)
    await patch(version, { status: 'draft' }, own.owner)
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().versions.length, 0)
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 404)
  })
})

describe('deleting', () => {
  test('removes the version and its bytes; dependents depend on the project from then on', async () => {
    const own = await t.make.project()
    const version = await t.make.version({ project: own })
    const file = await t.make.file({ version, project: own, bytes: modJar('to delete') })
    const dependent = await t.make.version({ project })
    await t.deps.db
      .insertInto('dependency')
      .values({ dependent_id: dependent.id, project_id: own.id, version_id: version.id, dependency_type: 'required' })
      .execute()
    await read(dependent)
    assert.equal((await t.as(own.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 404)
    assert.deepEqual((await t.anyone.get(`/v3/project/${own.id}`)).json().versions, [])
    assert.deepEqual((await read(dependent)).dependencies, [
      { version_id: null, project_id: own.id, file_name: null, dependency_type: 'required' },
    ])
    await t.runJobs()
    assert.equal(await t.deps.files.stat(file.storageKey), undefined)
    assert.equal(
      (await t.deps.db.selectFrom('file_content').selectAll().where('sha512', '=', file.sha512).execute()).length,
      0,
    )
    assert.equal((await t.as(own.owner).delete(`/v3/version/${version.id}`)).statusCode, 404)
  })

  test('keeps bytes claimed that another version of the project holds', async () => {
    const own = await t.make.project()
    const [a, b] = [await t.make.version({ project: own }), await t.make.version({ project: own })]
    const bytes = modJar('held twice')
    await t.make.file({ version: a, project: own, bytes })
    const kept = await t.make.file({ version: b, project: own, bytes })
    await t.as(own.owner).delete(`/v3/version/${a.id}`)
    assert.equal(
      (await t.deps.db.selectFrom('file_content').selectAll().where('sha512', '=', kept.sha512).execute()).length,
      1,
    )
  })

  test('wants its scope and permission', async () => {
    const version = await t.make.version({ project })
    const path = `/v3/version/${version.id}`
    const uploader = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: uploader.id, permissions: 1 })
    assert.equal((await t.anyone.delete(path)).statusCode, 401)
    assert.equal((await t.as(await t.make.pat(project.owner, ALL_SCOPES - 131_072)).delete(path)).statusCode, 403)
    for (const person of [stranger, uploader, moderator])
      assert.equal((await t.as(person).delete(path)).statusCode, 403)
    const draft = await t.make.version({ project, status: 'draft' })
    assert.equal((await t.as(stranger).delete(`/v3/version/${draft.id}`)).statusCode, 404)
  })
})
