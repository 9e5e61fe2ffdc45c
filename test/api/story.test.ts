// The story of a program: on an empty instance, through public routes alone, from the first account to the update check of a
// launcher and the bot that follows the changes.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  signUp,
} from '#test/support/story/empty-instance.ts'

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())

const search = async (query: string) => (await t.anyone.get('/v3/search', { query: { query } })).json().hits

test('an empty instance answers every list with nothing', async () => {
  assert.equal((await t.anyone.get('/v3/statistics')).json().projects, 0)
  assert.deepEqual(await search(''), [])
  assert.deepEqual((await t.anyone.get('/v3/projects_random', { query: { count: 3 } })).json(), [])
  for (const path of ['/', '/mods', '/v3/changes', '/mods.atom'])
    assert.ok((await t.anyone.get(path)).statusCode < 400, path)
})

test('a program publishes, moderators approve, a launcher finds the update, a bot follows the changes', async () => {
  const admin = await firstAdmin(t)
  const [author, moderator] = [await signUp(t, 'ida'), await signUp(t, 'mira')]
  await appointModerator(t, admin, moderator)
  const token = await makeToken(t, author)
  const library = await makeProject(t, token, 'lamp-library')
  const mod = await makeProject(t, token, 'lamps')

  const first = await publish(t, token, { project_id: library, version_number: '1.0.0' })
  const dependencies = [{ project_id: library, dependency_type: 'required' }]
  const dry = await publish(t, token, {
    project_id: mod,
    version_number: '1.0.0+fabric',
    dependencies,
    query: '?dry_run=true',
  })
  assert.equal((await t.as({ token }).get(`/v3/project/${mod}/version`)).json().length, 0, JSON.stringify(dry))
  const old = await publish(t, token, { project_id: mod, version_number: '1.0.0+fabric', dependencies })

  // Hidden until the decision, for everyone else.
  assertError(await t.anyone.get('/v3/project/lamps'), 404, 'not_found')
  assertError(await t.anyone.get(`/v3/version/${old.id}`), 404, 'not_found')
  const start = (await t.anyone.get('/v3/changes')).json()
  for (const project of [library, mod]) await approve(t, token, moderator, project)

  await t.searchable()
  assert.deepEqual((await search('lamps')).map(({ slug }: { slug: string }) => slug)[0], 'lamps')
  const { hashes, url } = old.files[0]
  const file = await t.anyone.get(new URL(url).pathname)
  assert.equal(file.statusCode, 200)

  const next = await publish(t, token, { project_id: mod, version_number: '1.1.0+fabric', dependencies })
  const update = await t.anyone.post(`/v3/version_file/${hashes.sha512}/update`, {
    loaders: ['fabric'],
    loader_fields: { game_versions: ['1.20.1'] },
  })
  assert.equal(update.json().id, next.id, update.body)
  const resolved = await t.anyone.post('/v3/resolve', {
    items: [{ project: 'lamps' }],
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
  })
  const chosen = resolved.json().chosen.map(({ version_id: id }: { version_id: string }) => id)
  assert.deepEqual(chosen.sort(), [first.id, next.id].sort(), resolved.body)

  const { changes } = (await t.anyone.get('/v3/changes', { query: { since: start.next } })).json()
  const seen = new Set(changes.map(({ id }: { id: string }) => id))
  for (const id of [library, mod, next.id]) assert.ok(seen.has(id), `${id} is not in ${JSON.stringify(changes)}`)
  // The older version of the API shows the same.
  assert.equal((await t.anyone.get('/v2/project/lamps')).json().id, mod)

  // A wrong value names its field.
  const bad = await t.as({ token }).patch('/v3/project/lamps', { license_id: 'Whatever-9' })
  assertError(bad, 400, 'validation_error', 'license_id')
  assert.equal((await t.as({ token }).delete(`/v3/project/${mod}`)).statusCode, 204)
  assertError(await t.anyone.get('/v3/project/lamps'), 404, 'not_found')
})
