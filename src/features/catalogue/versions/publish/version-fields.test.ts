// Loader fields of versions: their types and limits, the values of the project, and the effects of a deletion.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()

let salt = 0
async function publish(fields: Record<string, unknown>) {
  salt += 1
  const { payload, headers } = await form(versionData({ project_id: project.id, ...fields }), [
    { name: 'file', bytes: modJar(`fields ${salt}`) },
  ])
  return t.as(project.owner).post('/v3/version', payload, { headers })
}
const patch = (id: string, body: Record<string, unknown>) => t.as(project.owner).patch(`/v3/version/${id}`, body)
const read = async (id: string) => (await t.as(project.owner).get(`/v3/version/${id}`)).json()

const REFUSED: [name: string, fields: Record<string, unknown>, field: string][] = [
  ['game_versions empty', { game_versions: [] }, 'game_versions'],
  ['game_versions no list', { game_versions: '1.20' }, 'game_versions'],
  ['an unknown game version', { game_versions: ['1.20', '0.0'] }, 'game_versions.1'],
  ['a game version that is a number', { game_versions: [1.2] }, 'game_versions.0'],
  ['an environment outside its list', { environment: 'moon' }, 'environment'],
  ['a list of environments', { environment: ['client_only'] }, 'environment'],
  ['a boolean as text', { singleplayer: 'true' }, 'singleplayer'],
  ['a boolean as number', { client_only: 1 }, 'client_only'],
  ['a field of another loader', { mrpack_loaders: ['fabric'] }, 'mrpack_loaders'],
  ['a field nobody knows', { sculpture: 1 }, 'sculpture'],
]

describe('an invalid field is rejected, naming it', () => {
  for (const [name, fields, field] of REFUSED) {
    test(`${name}, on creating and on editing`, async () => {
      const made = await publish(fields)
      assert.deepEqual(
        [made.statusCode, made.json().error, made.json().details?.field],
        [400, 'validation_error', field],
        made.body,
      )
      const { id } = await t.make.version({ project })
      const edited = await patch(id, fields)
      assert.deepEqual(
        [edited.statusCode, edited.json().error, edited.json().details?.field],
        [400, 'validation_error', field],
        edited.body,
      )
      assert.deepEqual((await read(id)).game_versions, ['1.20.1'], 'nothing is saved')
    })
  }

  test('a mandatory field that is absent or null', async () => {
    for (const fields of [{ game_versions: undefined }, { game_versions: null }]) {
      const answer = await publish(fields)
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'game_versions'])
    }
  })
})

describe('a field that fits', () => {
  test('is stored as sent, without duplicates; a missing environment is unknown', async () => {
    const answer = await publish({ game_versions: ['1.20', '1.20.1', '1.20'], singleplayer: false, client_only: null })
    assert.equal(answer.statusCode, 201, answer.body)
    const version = answer.json()
    assert.deepEqual(
      [version.game_versions, version.singleplayer, version.environment],
      [['1.20', '1.20.1'], false, 'unknown'],
    )
    assert.equal('client_only' in version, false)
  })

  test('is edited alone; null leaves it; the others stay', async () => {
    const { id } = (await publish({ environment: 'client_only' })).json()
    assert.equal((await patch(id, { game_versions: ['1.20.2'], environment: null })).statusCode, 204)
    const { game_versions, environment } = await read(id)
    assert.deepEqual([game_versions, environment], [['1.20.2'], 'client_only'])
  })

  test('is removed if the new loaders do not have it; fields that they require must be set', async () => {
    const { id } = (await publish({ environment: 'server_only' })).json()
    assert.equal((await patch(id, { loaders: ['paper'] })).statusCode, 204)
    const version = await read(id)
    assert.deepEqual([version.loaders, version.project_types, 'environment' in version], [['paper'], ['plugin'], false])
    const unknown = await patch(id, { loaders: ['paper', 'sculptor'] })
    assert.deepEqual([unknown.statusCode, unknown.json().details.field], [400, 'loaders.1'])
    assert.equal((await patch(id, { loaders: [] })).json().details.field, 'loaders')
  })
})

describe('a project adds up the fields of its listed versions', () => {
  test('in the order of their lists, empty lists where none has a value, scalars only where one has', async () => {
    const own = await t.make.project()
    const view = async () => (await t.anyone.get(`/v3/project/${own.id}`)).json()
    assert.equal('game_versions' in (await view()), false, 'no loader, no field')
    const old = await t.make.version({ project: own, game_versions: ['1.21', '1.19.4'] })
    await t.make.version({ project: own, loaders: ['mrpack'], game_versions: ['1.20.5', '1.19.4'] })
    // A version made by SQL invalidates no cache.
    t.deps.cache.clear()
    const both = await view()
    assert.deepEqual(both.game_versions, ['1.19.4', '1.20.5', '1.21'])
    assert.deepEqual(both.mrpack_loaders, [])
    assert.equal('singleplayer' in both, false)
    assert.deepEqual(both.project_types, ['mod', 'modpack'])
    assert.deepEqual(both.games, ['minecraft-java'])
    const owner = t.as(own.owner)
    await owner.patch(`/v3/version/${old.id}`, { singleplayer: true, environment: 'client_only' })
    const edited = await view()
    assert.deepEqual([edited.singleplayer, edited.environment], [[true], ['client_only', 'unknown']])
    await owner.patch(`/v3/version/${old.id}`, { status: 'unlisted' })
    const without = await view()
    assert.deepEqual([without.game_versions, without.loaders], [['1.19.4', '1.20.5'], ['mrpack']])
    assert.equal((await owner.delete(`/v3/version/${without.versions[0]}`)).statusCode, 204)
    const { game_versions, loaders, project_types, versions } = await view()
    assert.deepEqual([game_versions, loaders, project_types, versions], [undefined, [], [], []])
  })
})

describe('a deleted version', () => {
  test('leaves its reports without it, its dependents on the project, its downloads in the total', async () => {
    const own = await t.make.project()
    const version = await t.make.version({ project: own })
    await t.deps.db.updateTable('version').set({ downloads: 7 }).where('id', '=', version.id).execute()
    await t.deps.db.updateTable('project').set({ downloads: 7 }).where('id', '=', own.id).execute()
    const dependent = await t.make.version({ project })
    const edited = await patch(dependent.id, {
      dependencies: [{ version_id: version.id, dependency_type: 'required' }],
    })
    assert.equal(edited.statusCode, 204, edited.body)
    const reportId = newId()
    await t.deps.db
      .insertInto('report')
      .values({
        id: reportId,
        report_type: 'spam',
        item_type: 'version',
        item_id: version.id,
        version_id: version.id,
        reporter_id: project.owner.id,
        body: 'Spam.',
      })
      .execute()
    assert.equal((await t.as(own.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
    const { dependencies } = await read(dependent.id)
    assert.deepEqual(dependencies, [
      { version_id: null, project_id: own.id, file_name: null, dependency_type: 'required' },
    ])
    const report = await t.deps.db.selectFrom('report').selectAll().where('id', '=', reportId).executeTakeFirstOrThrow()
    assert.deepEqual([report.version_id, report.item_id, report.closed], [null, version.id, false])
    assert.equal((await t.anyone.get(`/v3/project/${own.id}`)).json().downloads, 7)
  })

  test('is deleted once for two concurrent requests', async () => {
    const { id } = await t.make.version({ project })
    const remove = () => t.as(project.owner).delete(`/v3/version/${id}`)
    assert.deepEqual((await Promise.all([remove(), remove()])).map(({ statusCode }) => statusCode).sort(), [204, 404])
  })

  test('can be the last one of a project', async () => {
    const own = await t.make.project()
    const { id } = await t.make.version({ project: own })
    assert.equal((await t.as(own.owner).delete(`/v3/version/${id}`)).statusCode, 204)
    assert.deepEqual((await t.anyone.get(`/v3/project/${own.id}/version`)).json(), [])
  })
})

test('dependencies that an edit names are completed and checked like those of a new version', async () => {
  const other = await t.make.project()
  const needed = await t.make.version({ project: other })
  const hidden = await t.make.project({ status: 'draft' })
  const hiddenVersion = await t.make.version({ project: other, status: 'draft' })
  const { id } = await t.make.version({ project })
  assert.equal(
    (await patch(id, { dependencies: [{ version_id: needed.id, dependency_type: 'embedded' }] })).statusCode,
    204,
  )
  const kept = [{ version_id: needed.id, project_id: other.id, file_name: null, dependency_type: 'embedded' }]
  assert.deepEqual((await read(id)).dependencies, kept)
  const refused: [object, string][] = [
    [{ project_id: hidden.id, dependency_type: 'required' }, 'dependencies.1.project_id'],
    [{ version_id: hiddenVersion.id, dependency_type: 'required' }, 'dependencies.1.version_id'],
    [{ version_id: needed.id, project_id: project.id, dependency_type: 'required' }, 'dependencies.1.version_id'],
    [{ file_name: 'a.jar', dependency_type: 'required' }, 'dependencies.1'],
    [{ dependency_type: 'required' }, 'dependencies.1'],
  ]
  const first = { file_name: 'a.jar', dependency_type: 'optional' }
  for (const [dependency, field] of refused) {
    const answer = await patch(id, { dependencies: [first, dependency] })
    assert.deepEqual([answer.statusCode, answer.json().details?.field], [400, field], answer.body)
  }
  const bare = { version_id: needed.id, dependency_type: 'required' }
  const twice = await patch(id, { dependencies: [bare, { ...bare, project_id: other.id }] })
  assert.deepEqual([twice.statusCode, twice.json().details?.field], [400, 'dependencies.1'], twice.body)
  assert.deepEqual((await read(id)).dependencies, kept, 'nothing is saved')
  assert.equal((await patch(id, { dependencies: [] })).statusCode, 204)
  assert.deepEqual((await read(id)).dependencies, [])
})
