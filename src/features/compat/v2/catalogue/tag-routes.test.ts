import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

async function read(path: string) {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['cache-control'], 'public, max-age=3600')
  return answer.json()
}

test('categories, licences and plain words are those of the v3 API', async () => {
  const { categories } = await read('/v3/tag/category')
  assert.deepEqual(await read('/v2/tag/category?cache=true'), categories)
  assert.deepEqual(await read('/v2/tag/license'), (await read('/v3/license')).licenses)
  assert.deepEqual(await read('/v2/tag/license/MIT'), await read('/v3/license/MIT'))
  assert.deepEqual(await read('/v2/tag/report_type'), (await read('/v3/report_type')).report_types)
  assert.deepEqual(await read('/v2/tag/project_type'), (await read('/v3/project_type')).project_types)
  assert.deepEqual(await read('/v2/tag/side_type'), ['required', 'optional', 'unsupported', 'unknown'])
})

test('loaders name the types of the v2 API; that of packs is not among them', async () => {
  const loaders: { name: string; icon: string; supported_project_types: string[] }[] = await read('/v2/tag/loader')
  const newer: { name: string }[] = (await read('/v3/tag/loader')).loaders
  assert.deepEqual(
    loaders.map(({ name }) => name),
    newer.map(({ name }) => name).filter((name) => name !== 'mrpack'),
  )
  const typesOf = (wanted: string) => loaders.find(({ name }) => name === wanted)?.supported_project_types.toSorted()
  assert.deepEqual(typesOf('fabric'), ['mod', 'modpack', 'project'])
  assert.deepEqual(typesOf('paper'), ['mod', 'plugin', 'project'])
  assert.deepEqual(typesOf('datapack'), ['datapack', 'mod', 'project'])
  assert.deepEqual(typesOf('iris'), ['project', 'shader'])
})

test('game versions come newest first, and can be narrowed', async () => {
  type GameVersion = { version: string; version_type: string; date: string; major: boolean }
  const all: GameVersion[] = await read('/v2/tag/game_version')
  const dates = all.map(({ date }) => date)
  assert.deepEqual(dates, dates.toSorted().reverse())
  const { values } = await read('/v3/loader_field?loader_field=game_versions')
  assert.equal(all.length, values.length)
  const [first] = values
  assert.deepEqual(
    all.find(({ version }) => version === first.value),
    { version: first.value, version_type: first.type, date: first.created, major: first.major },
  )
  const majors: GameVersion[] = await read('/v2/tag/game_version?type=release&major=true')
  assert.deepEqual(
    majors,
    all.filter(({ version_type, major }) => version_type === 'release' && major),
  )
  const wrong = await t.anyone.get('/v2/tag/game_version?major=yes')
  assert.deepEqual([wrong.statusCode, wrong.json().details.field], [400, 'major'])
})

test('donation platforms have their names', async () => {
  const platforms: { short: string; name: string }[] = await read('/v2/tag/donation_platform')
  assert.deepEqual(Object.fromEntries(platforms.map(({ short, name }) => [short, name])), {
    patreon: 'Patreon',
    bmac: 'Buy Me A Coffee',
    paypal: 'PayPal',
    github: 'GitHub Sponsors',
    'ko-fi': 'Ko-fi',
    other: 'Other',
  })
})
