// Errors and the description of the v2 API name the routes of the v2 API.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { form, versionDataV2 } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())

test('errors name the routes of the v2 API', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project })
  const pack = await t.make.version({ project, loaders: ['mrpack'] })
  const owner = t.as(project.owner)
  const fields = versionDataV2({ project_id: project.id, game_versions: ['9.9'] })
  const { payload, headers } = await form(fields, [{ name: '_0', filename: 'a.jar', bytes: Buffer.from('a') }])
  for (const [answer, message] of [
    [
      await owner.patch(`/v2/project/${project.id}`, { categories: ['nonsense'] }),
      'is not a known category: GET /v2/tag/category lists them',
    ],
    [
      await owner.patch('/v2/projects', { add_categories: ['nonsense'] }, { query: { ids: `["${project.id}"]` } }),
      'is not a known category: GET /v2/tag/category lists them',
    ],
    [
      await owner.patch(`/v2/version/${version.id}`, { loaders: ['nonsense'] }),
      'is not a known loader: GET /v2/tag/loader lists them',
    ],
    [
      await owner.patch(`/v2/version/${pack.id}`, { loaders: ['nonsense'] }),
      'is not a known loader: GET /v2/tag/loader lists them',
    ],
    [
      await owner.post('/v2/version', payload, { headers }),
      'is not a known value of game_versions: GET /v2/tag/game_version lists them',
    ],
  ] as const) {
    const { description, details } = answer.json()
    assert.deepEqual([answer.statusCode, details.message], [400, message])
    assert.equal(description, `Field ${details.field}: ${message}`)
  }
})

test('the description names only routes that exist', async () => {
  const older = (await t.anyone.get('/docs/v2/openapi.json')).json()
  const newer = (await t.anyone.get('/docs/openapi.json')).json()
  const named = [...JSON.stringify(older).matchAll(/(GET|POST|PATCH) (\/v[23]\/[\w/]+)/g)]
  assert.ok(named.length > 10)
  for (const [, method = '', path = ''] of named) {
    const { paths } = path.startsWith('/v2/') ? older : newer
    assert.ok(paths[path]?.[method.toLowerCase()] !== undefined, `${method} ${path}`)
    assert.ok(!path.startsWith('/v3/') || path === '/v3/image', path)
  }
})

test('the description of the first versions of a project is that of a version', async () => {
  const { schemas } = (await t.anyone.get('/docs/v2/openapi.json')).json().components
  const { project_id: _, ...fields } = schemas.VersionCreate.properties
  assert.deepEqual(Object.keys(schemas.InitialVersion.properties), Object.keys(fields))
})
