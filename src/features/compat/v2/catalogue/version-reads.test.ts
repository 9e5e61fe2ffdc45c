import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
type Versions = { id: string }[]
const idsOf = (list: Versions) => list.map(({ id }) => id)

async function read(path: string, query: Record<string, string> = {}) {
  const answer = await t.anyone.get(path, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('a version has every key of its older shape', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['fabric', 'quilt'], changelog: 'All of it.' })
  const file = await t.make.file({ version, project, bytes: Buffer.from('bytes of a file') })
  const expected = {
    id: version.id,
    project_id: project.id,
    author_id: project.owner.id,
    featured: false,
    name: 'A version',
    version_number: '1.0.0',
    changelog: 'All of it.',
    changelog_url: null,
    date_published: (await read(`/v3/version/${version.id}`)).date_published,
    downloads: 0,
    version_type: 'release',
    status: 'listed',
    requested_status: null,
    game_versions: ['1.20.1'],
    loaders: ['fabric', 'quilt'],
    environment: 'unknown',
    files: [
      {
        id: file.id,
        hashes: { sha1: file.sha1, sha512: file.sha512 },
        url: `https://depot.test/data/${project.id}/versions/${version.id}/test.jar`,
        filename: 'test.jar',
        primary: true,
        size: 15,
        file_type: null,
      },
    ],
    dependencies: [],
  }
  const { changelog: _, ...brief } = expected
  assert.deepEqual(await read(`/v2/version/${version.id}`), expected)
  assert.deepEqual(await read(`/v2/project/${project.slug}/version`), [expected])
  assert.deepEqual(await read(`/v2/project/${project.slug}/version`, { include_changelog: 'false' }), [brief])
  assert.deepEqual(await read('/v2/versions', { ids: `["${version.id}"]` }), [expected])
  assert.deepEqual(await read('/v2/versions', { ids: `["${version.id}"]`, include_changelog: 'false' }), [brief])
  for (const name of ['1.0.0', version.id])
    assert.deepEqual(await read(`/v2/project/${project.id}/version/${name}`), expected)
})

test('a list is filtered, cut and ordered as in the v3 API; unknown words match nothing', async () => {
  const project = await t.make.project()
  const older = await t.make.version({ project, date_published: at(1), game_versions: ['1.19.2'], featured: true })
  const beta = await t.make.version({ project, date_published: at(2), version_type: 'beta', loaders: ['quilt'] })
  const list = async (query: Record<string, string>) => idsOf(await read(`/v2/project/${project.id}/version`, query))
  assert.deepEqual(await list({}), [beta.id, older.id])
  assert.deepEqual(await list({ loaders: '["liteloader","quilt","nothing"]' }), [beta.id])
  assert.deepEqual(await list({ loaders: '[]', game_versions: '[]' }), [beta.id, older.id])
  assert.deepEqual(await list({ loaders: '', featured: '', limit: '', offset: '' }), [beta.id, older.id])
  assert.deepEqual(await list({ game_versions: '["1.19.2"]' }), [older.id])
  assert.deepEqual(await list({ game_versions: '["1.99"]' }), [])
  assert.deepEqual(await list({ featured: 'true' }), [older.id])
  assert.deepEqual(await list({ version_type: 'beta', filter: 'x' }), [beta.id])
  assert.deepEqual(await list({ limit: '1', offset: '1' }), [older.id])
  assert.deepEqual(await list({ limit: '999999999999' }), [beta.id, older.id])
  assert.deepEqual(await list({ limit: '-1' }), [])
  assert.deepEqual(await list({ offset: '-1', limit: '9'.repeat(30) }), [beta.id, older.id])
  for (const unreadable of ['fabric', '"fabric"', '["fabric"', '{"fabric":1}', '[1]', 'null'])
    assert.deepEqual(await list({ loaders: unreadable, game_versions: unreadable }), [beta.id, older.id], unreadable)
  for (const [query, field] of [
    [{ featured: '"true"' }, 'featured'],
    [{ loaders: JSON.stringify(Array.from({ length: 1001 }, (_, index) => `${index}`)) }, 'loaders'],
    [{ limit: '1.5' }, 'limit'],
    [{ version_type: 'final' }, 'version_type'],
  ] as const) {
    const answer = await t.anyone.get(`/v2/project/${project.id}/version`, { query })
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field])
  }
})

for (const version of ['v2', 'v3']) {
  test(`${version}: a pack is found by the loaders inside it, and by its own`, async () => {
    const project = await t.make.project()
    const pack = { project, loaders: ['mrpack'] }
    const fabric = await t.make.version({ ...pack, date_published: at(1), fields: { mrpack_loaders: ['fabric'] } })
    const forge = await t.make.version({ ...pack, date_published: at(2), fields: { mrpack_loaders: ['forge'] } })
    const bare = await t.make.version({ ...pack, date_published: at(3) })
    const file = await t.make.file({ version: fabric, project, bytes: Buffer.from(`a pack ${version}`) })
    const list = async (loaders: readonly string[]) =>
      idsOf(await read(`/${version}/project/${project.id}/version`, { loaders: JSON.stringify(loaders) }))
    assert.deepEqual(await list(['fabric', 'quilt']), [fabric.id])
    assert.deepEqual(await list(['mrpack']), [bare.id, forge.id, fabric.id])
    assert.deepEqual(await list(['minecraft']), [])
    const many = Array.from({ length: 50 }, (_, index) => `loader-${index}`)
    assert.deepEqual(await list([...many, 'forge']), [forge.id])
    const update = async (loaders: string[]) =>
      (await t.anyone.post(`/${version}/version_file/${file.sha1}/update`, { loaders })).json().id
    assert.deepEqual([await update(['fabric']), await update(['forge'])], [fabric.id, forge.id])
    const bulk = await t.anyone.post(`/${version}/version_files/update`, { hashes: [file.sha1], loaders: ['forge'] })
    assert.equal(bulk.json()[file.sha1].id, forge.id)
  })
}

test('a version of a pack without the field shows the loader it has', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['mrpack'] })
  assert.deepEqual((await read(`/v2/version/${version.id}`)).loaders, ['mrpack'])
})

test('a list costs the same as in the v3 API, and a change is visible immediately', async () => {
  const project = await t.make.project()
  const versions = await Promise.all([1, 2, 3].map((day) => t.make.version({ project, date_published: at(day) })))
  const cost = async (path: string) => (await t.queriesOf(() => t.anyone.get(path))).queries.length
  const ids = encodeURIComponent(JSON.stringify(idsOf(versions)))
  assert.deepEqual([await cost(`/v2/versions?ids=${ids}`), await cost(`/v2/versions?ids=${ids}`)], [1, 0])
  assert.equal(await cost(`/v3/versions?ids=${ids}`), 0)
  const [first] = versions
  const patch = { name: 'Renamed' }
  assert.equal((await t.as(project.owner).patch(`/v3/version/${first?.id}`, patch)).statusCode, 204)
  assert.equal((await read(`/v2/version/${first?.id}`)).name, 'Renamed')
})
