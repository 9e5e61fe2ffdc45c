// The requests of programs that no package registry has, as these programs send them: mc-publish 995edad, packwiz dfd8b68
// and mrpack-install f393b06. `npm run test:clients` runs the programs that a registry has.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { form, modJar, versionDataV2 } from '#test/support/http/forms.ts'
import { packFile, publishVersionV2 } from '#test/support/http/v2-steps.ts'

const t = await testApp()
after(() => t.close())

type Ask = (path: string, query?: Record<string, string>) => Promise<Awaited<ReturnType<TestApp['inject']>>>

/** Sends requests as a program does, without the headers of the other tests. */
const program =
  (userAgent: string, authorization?: string): Ask =>
  (url, query = {}) =>
    t.inject({
      method: 'GET',
      url,
      query,
      headers: { 'user-agent': userAgent, ...(authorization === undefined ? {} : { authorization }) },
    })

test('mc-publish publishes a version, and no longer features the earlier ones', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'for-mc-publish' })
  const needed = await t.make.project({ slug: 'for-mc-publish-library' })
  const { token } = await t.make.pat(owner)
  const ask = program('Kir-Antipov/mc-publish (https://example.org)', token)
  const person = { token }
  const earlier = await publishVersionV2(t.as(owner), { project_id: project.id, featured: true }, [
    { name: 'file', filename: 'light-1.0.0.jar', bytes: modJar('mc-publish 1') },
  ])
  assert.equal(earlier.statusCode, 200, earlier.body)

  const shown = (await ask('/v2/project/for-mc-publish')).json()
  assert.deepEqual([shown.id, shown.slug, shown.project_type], [project.id, 'for-mc-publish', 'mod'])
  const versions: { version: string; version_type: string }[] = (await ask('/v2/tag/game_version?cache=true')).json()
  assert.ok(versions.some(({ version, version_type }) => version === '1.20.1' && version_type === 'release'))
  const loaders: { name: string; supported_project_types: string[] }[] = (await ask('/v2/tag/loader?cache=true')).json()
  assert.ok(loaders.find(({ name }) => name === 'fabric')?.supported_project_types.includes('mod'))
  assert.equal((await ask('/v2/project/for-mc-publish-library/check')).json().id, needed.id)
  assert.equal((await ask('/v2/project/missing/check')).statusCode, 404)

  const data = versionDataV2({
    version_number: '2.0.0',
    project_id: project.id,
    dependencies: [{ project_id: needed.id, dependency_type: 'required' }],
    featured: true,
    primary_file: '_0',
    file_parts: ['_0', '_1'],
  })
  const { payload, headers } = await form(data, [
    { name: '_0', filename: 'light-2.0.0.jar', bytes: modJar('mc-publish 2') },
    { name: '_1', filename: 'light-2.0.0-sources.jar', bytes: modJar('mc-publish 2 sources') },
  ])
  const made = await t.as(person).post('/v2/version', payload, { headers })
  assert.equal(made.statusCode, 200, made.body)
  const files: { filename: string; primary: boolean; hashes: { sha1: string }; url: string }[] = made.json().files
  assert.deepEqual(
    files.map(({ filename, primary }) => [filename, primary]),
    [
      ['light-2.0.0.jar', true],
      ['light-2.0.0-sources.jar', false],
    ],
  )

  const featured: { id: string }[] = (await ask(`/v2/project/${project.id}/version`, { featured: 'true' })).json()
  assert.deepEqual(
    featured.map(({ id }) => id),
    [made.json().id, earlier.json().id],
  )
  const { id } = earlier.json()
  assert.equal((await t.as(person).patch(`/v2/version/${id}`, { id, featured: false })).statusCode, 204)
  assert.equal((await t.anyone.get(`/v3/version/${id}`)).json().featured, false)
  const changed = await t.as(person).patch(`/v2/project/${project.id}`, { id: project.id, body: 'From the readme' })
  assert.equal(changed.statusCode, 204, changed.body)
  assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().description, 'From the readme')
})

test('packwiz finds a mod, reads its versions and requirements, and downloads it', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'for-packwiz', name: 'Wizard Lantern' })
  const needed = await t.make.project({ owner, slug: 'for-packwiz-library', name: 'Wizard Library' })
  const bytes = modJar('packwiz')
  const dependencies = [{ project_id: needed.id, dependency_type: 'required' }]
  const published = await publishVersionV2(t.as(owner), { project_id: project.id, dependencies }, [
    { name: 'file', filename: 'wizard.jar', bytes },
  ])
  assert.equal(published.statusCode, 200, published.body)
  await t.searchable()
  const ask = program('packwiz/packwiz')

  const facets = JSON.stringify([['versions:1.20.1'], ['project_type:mod']])
  const { hits } = (await ask('/v2/search', { limit: '5', index: 'relevance', facets, query: 'wizard lantern' })).json()
  assert.deepEqual([hits[0]?.project_id, hits[0]?.title], [project.id, 'Wizard Lantern'])
  const found = (await ask('/v2/project/for-packwiz')).json()
  assert.deepEqual(found.versions, [published.json().id])
  for (const key of ['id', 'title', 'slug', 'project_type', 'client_side', 'server_side'])
    assert.equal(typeof found[key], 'string', key)
  const filters = {
    game_versions: JSON.stringify(['1.20.1']),
    loaders: JSON.stringify(['fabric', 'canvas', 'iris', 'optifine', 'vanilla', 'minecraft']),
  }
  const [version, ...others] = (await ask(`/v2/project/${project.id}/version`, filters)).json()
  assert.deepEqual([version.id, others], [published.json().id, []])
  assert.ok(!Number.isNaN(Date.parse(version.date_published)))
  assert.deepEqual((await ask(`/v2/version/${version.id}`)).json(), version)
  assert.deepEqual((await ask('/v2/versions', { ids: JSON.stringify([version.id]) })).json(), [version])
  assert.deepEqual(
    version.dependencies.map((each: { project_id: string }) => each.project_id),
    [needed.id],
  )
  const [required] = (await ask('/v2/projects', { ids: JSON.stringify([needed.id]) })).json()
  assert.equal(required.slug, 'for-packwiz-library')
  const [file] = version.files
  assert.match(file.hashes.sha1, /^[0-9a-f]{40}$/)
  assert.ok((await ask(new URL(file.url).pathname)).rawPayload.equals(bytes))
})

test('mrpack-install finds the version of a pack and downloads it', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'for-mrpack-install' })
  const bytes = packFile('mrpack-install')
  const published = await publishVersionV2(t.as(owner), { project_id: project.id, loaders: ['fabric'] }, [
    { name: 'file', filename: 'pack.mrpack', bytes },
  ])
  assert.equal(published.statusCode, 200, published.body)
  const ask = program('mrpack-install (+https://example.org)')
  const answer = await ask('/v2/project/for-mrpack-install/version')
  for (const name of ['x-ratelimit-remaining', 'x-ratelimit-reset']) assert.match(String(answer.headers[name]), /^\d+$/)
  const [version] = answer.json()
  assert.deepEqual([version.version_number, version.version_type], ['1.0.0', 'release'])
  const file = version.files.find(({ filename }: { filename: string }) => filename.endsWith('.mrpack'))
  assert.ok((await ask(new URL(file.url).pathname)).rawPayload.equals(bytes))
  const byHash = await ask(`/v2/version_file/${file.hashes.sha512}`, { algorithm: 'sha512' })
  assert.equal(byHash.json().id, version.id)
})
