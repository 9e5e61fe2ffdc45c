// Operators add, change, remove, order and merge single tags.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())
afterEach(async () => {
  for (const list of LISTS) await t.anyone.delete(`${TAGS}/${list}`, undefined, KEY)
})

type Row = Record<string, unknown>

const LISTS = ['games', 'loaders', 'categories', 'game_versions', 'loader_fields', 'licenses', 'link_platforms']
const TAGS = '/_internal/admin/tags'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const NOON = '2026-01-01T12:00:00.000Z'
const ICON = '<svg ></svg>'
const add = (list: string, row: object) => t.anyone.post(`${TAGS}/${list}/values`, row, KEY)
const at = (list: string, id: string) => `${TAGS}/${list}/values/${encodeURIComponent(id)}`
const change = (list: string, id: string, patch: object) => t.anyone.patch(at(list, id), patch, KEY)
const remove = (list: string, id: string) => t.anyone.delete(at(list, id), undefined, KEY)
const merge = (list: string, from: string, to: string) => t.anyone.post(`${TAGS}/${list}/merge`, { from, to }, KEY)
const uses = async (list: string, id: string) => (await t.anyone.get(`${at(list, id)}/uses`, KEY)).json()
const rows = async (list: string): Promise<Row[]> => (await t.anyone.get(TAGS, KEY)).json()[list].rows
const names = async (path: string, key: string, name = 'name'): Promise<unknown[]> =>
  (await t.anyone.get(path)).json()[key].map((row: Row) => row[name])
async function ok(answer: Promise<{ statusCode: number; body: string }>): Promise<void> {
  const { statusCode, body } = await answer
  assert.equal(statusCode, 204, body)
}

test('a game version is added, changed and removed; and is usable immediately', async () => {
  await ok(add('game_versions', { value: '99.1 Test', created: NOON, metadata: { type: 'release', major: true } }))
  assert.equal((await rows('game_versions'))[0]?.['value'], '99.1 Test')
  const project = await t.make.project()
  await t.make.version({ project, game_versions: ['99.1 Test'] })
  assert.deepEqual(await uses('game_versions', '99.1 Test'), { projects: 1, versions: 1 })
  await ok(change('game_versions', '99.1 Test', { metadata: { type: 'snapshot' }, ordering: 4, created: null }))
  const [row] = await rows('game_versions')
  assert.deepEqual([row?.['created'], row?.['metadata'], row?.['ordering']], [NOON, { type: 'snapshot' }, 4])
  await ok(change('game_versions', '99.1 Test', { metadata: null, ordering: null }))
  assert.deepEqual(Object.keys((await rows('game_versions'))[0] ?? {}).sort(), ['created', 'hidden', 'uses', 'value'])
  await ok(remove('game_versions', '99.1 Test'))
  assert.notEqual((await rows('game_versions'))[0]?.['value'], '99.1 Test')
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log', { ...KEY, query: { limit: 4 } })).json()
  assert.deepEqual(
    entries.map(({ details }: Row) => details),
    [
      { list: 'game_versions', added: [], removed: ['99.1 Test'] },
      { list: 'game_versions', added: [], removed: [], changed: ['99.1 Test'] },
      { list: 'game_versions', added: [], removed: [], changed: ['99.1 Test'] },
      { list: 'game_versions', added: ['99.1 Test'], removed: [] },
    ],
  )
})

test('different tags that are added at the same time are all in the list', async () => {
  const values = Array.from({ length: 8 }, (_, index) => `99.${index}`)
  const answers = await Promise.all(values.map((value) => add('game_versions', { value, created: NOON })))
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([204]))
  const listed = new Set((await rows('game_versions')).map(({ value }) => value))
  assert.deepEqual(new Set(values).difference(listed), new Set())
  const same = await Promise.all([1, 2].map(() => add('game_versions', { value: '98', created: NOON })))
  assert.deepEqual(same.map(({ statusCode }) => statusCode).sort(), [204, 400])
})

test('a change of a list that another operator has changed since is refused', async () => {
  await ok(change('link_platforms', 'store', { donation: true, revision: 0 }))
  const late = await change('link_platforms', 'store', { donation: false, revision: 0 })
  assertError(late, 409, 'conflict', 'revision')
})

test('tags with errors are refused, naming the field, and change nothing', async () => {
  const before = await t.anyone.get(TAGS, KEY)
  const category = { name: 'lamps', project_type: 'mod', header: 'categories', ordering: 0, icon: ICON }
  const field = { name: 'players', type: 'integer', optional: true, created: NOON }
  for (const [list, row, name] of [
    ['game_versions', { value: '1.20', created: NOON }, 'value'],
    ['game_versions', { value: '99', created: 'today' }, 'created'],
    ['game_versions', { created: NOON }, 'value'],
    ['categories', { ...category, name: 'magic' }, 'name'],
    ['categories', { ...category, project_type: 'boat' }, 'name'],
    ['categories', { ...category, icon: 'x' }, 'icon'],
    [
      'loaders',
      { name: 'lamp', project_types: [], games: ['x'], fields: [], metadata: {}, icon: ICON },
      'project_types',
    ],
    ['loader_fields', { ...field, name: 'version_number' }, 'name'],
    ['loader_fields', { ...field, type: 'enum' }, 'name'],
    ['loader_fields', { ...field, options: ['a'] }, 'name'],
    ['loader_fields', { ...field, type: 'enum', values: 'nothing.json' }, 'name'],
    ['loader_fields', { ...field, type: 'enum', options: ['a', 'a'] }, 'name'],
    ['licenses', { id: 'Mine' }, 'id'],
    ['licenses', { id: 'LicenseRef-Mine' }, 'id'],
    ['licenses', { id: 'ISC', name: 'Mine' }, 'id'],
    ['link_platforms', { name: 'My forum', donation: false }, 'name'],
  ] as const)
    assertError(await add(list, row), 400, 'validation_error', name)
  assertError(await change('loaders', 'fabric', { games: ['chess'] }), 400, 'validation_error', 'games')
  assertError(await change('loaders', 'fabric', { position: 1 }), 400, 'validation_error', 'position')
  assertError(await remove('games', 'minecraft-java'), 400, 'validation_error', 'id')
  for (const id of ['nothing', 'magic', 'mod:nothing'])
    for (const answer of [await change('categories', id, {}), await remove('categories', id)])
      assertError(answer, 404, 'not_found')
  assertError(await t.anyone.get(`${at('categories', 'magic')}/uses`, KEY), 404, 'not_found')
  assertError(await t.anyone.delete(at('boats', 'x'), undefined, KEY), 400, 'invalid_input', 'list')
  assertError(await merge('games', 'minecraft-java', 'minecraft-bedrock'), 400, 'invalid_input', 'list')
  assert.equal((await t.anyone.get(TAGS, KEY)).body, before.body)
})

test('a position orders games, platforms and licences in their list, and categories in their group', async () => {
  await ok(change('link_platforms', 'store', { position: 0 }))
  await ok(change('link_platforms', 'patreon', { position: 999 }))
  const platforms = await names('/v3/link_platform', 'platforms')
  assert.deepEqual([platforms[0], platforms.at(-1)], ['store', 'patreon'])
  const group = async () =>
    (await t.anyone.get('/v3/tag/category'))
      .json()
      .categories.filter(({ project_type, header }: Row) => project_type === 'mod' && header === 'categories')
      .map(({ name }: Row) => name)
  const [first, second, ...others] = await group()
  await ok(change('categories', `mod:${second}`, { position: 0 }))
  assert.deepEqual(await group(), [second, first, ...others])
  await ok(change('categories', `mod:${second}`, { position: others.length + 1 }))
  assert.deepEqual(await group(), [first, ...others, second])
})

test('merged categories are merged in all projects, once', async () => {
  const project = await t.make.project()
  const patch = { categories: ['cursed', 'magic'], additional_categories: ['food'] }
  const path = `/v3/project/${project.id}`
  await ok(t.as(project.owner).patch(path, patch))
  const read = async () => {
    const { categories, additional_categories } = (await t.anyone.get(path)).json()
    return [categories, additional_categories]
  }
  await read()
  assert.deepEqual(await uses('categories', 'mod:cursed'), { projects: 1, versions: 0 })
  await ok(merge('categories', 'cursed', 'magic'))
  assert.deepEqual(await read(), [['magic'], ['food']])
  await ok(merge('categories', 'food', 'magic'))
  assert.deepEqual(await read(), [['magic'], []])
  assert.ok((await rows('categories')).every(({ name }) => name !== 'cursed' && name !== 'food'))
  // The category of a project type that lacks the other one takes its name.
  await ok(merge('categories', 'bloom', 'economy'))
  const economy = (await rows('categories')).filter(({ name }) => name === 'economy')
  assert.deepEqual(economy.map(({ project_type }) => project_type).sort(), ['mod', 'shader'])
  for (const [from, to, field] of [
    ['cursed', 'magic', 'from'],
    ['magic', 'cursed', 'to'],
    ['magic', 'magic', 'to'],
  ] as const)
    assertError(await merge('categories', from, to), 400, 'validation_error', field)
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log?action=tags.merged', KEY)).json()
  assert.deepEqual(entries.at(-1).details, { list: 'categories', from: 'cursed', to: 'magic', count: 1 })
})

test('merged game versions and loaders are merged in versions, and search finds them', async () => {
  const project = await t.make.project()
  const { id } = await t.make.version({ project, game_versions: ['1.20', '1.20.1'], loaders: ['fabric', 'quilt'] })
  await t.anyone.get(`/v3/version/${id}`)
  assert.deepEqual(await uses('loaders', 'quilt'), { projects: 1, versions: 1 })
  await ok(merge('game_versions', '1.20.1', '1.20'))
  await ok(merge('loaders', 'quilt', 'forge'))
  const { game_versions, loaders } = (await t.anyone.get(`/v3/version/${id}`)).json()
  assert.deepEqual([game_versions, loaders], [['1.20'], ['fabric', 'forge']])
  await ok(merge('loaders', 'forge', 'fabric'))
  assert.deepEqual((await t.anyone.get(`/v3/version/${id}`)).json().loaders, ['fabric'])
  await t.searchable()
  const facets = JSON.stringify([['versions:1.20'], [`project_id:${project.id}`]])
  assert.equal((await t.anyone.get('/v3/search', { query: { facets } })).json().total_hits, 1)
  const other = JSON.stringify([['categories:quilt'], [`project_id:${project.id}`]])
  assert.equal((await t.anyone.get('/v3/search', { query: { facets: other } })).json().total_hits, 0)
})

test('platforms of links are renamed and merged in projects; a hidden platform keeps its links', async () => {
  const project = await t.make.project()
  const path = `/v3/project/${project.id}`
  const links = async () => {
    const urls: Record<string, Row> = (await t.anyone.get(path)).json().link_urls
    return Object.fromEntries(Object.entries(urls).map(([name, { url }]) => [name, url]))
  }
  const [wiki, site] = ['https://wiki.example/', 'https://site.example/']
  await ok(t.as(project.owner).patch(path, { link_urls: { wiki, site, store: site } }))
  await ok(t.anyone.post(`${TAGS}/link_platforms/rename`, { from: 'wiki', to: 'docs' }, KEY))
  assert.deepEqual(await links(), { docs: wiki, site, store: site })
  await ok(merge('link_platforms', 'site', 'docs'))
  assert.deepEqual(await links(), { docs: wiki, store: site })
  await ok(merge('link_platforms', 'store', 'patreon'))
  assert.deepEqual(await links(), { docs: wiki, patreon: site })
  await ok(change('link_platforms', 'docs', { hidden: true }))
  assert.ok(!(await names('/v3/link_platform', 'platforms')).includes('docs'))
  assert.deepEqual(await links(), { docs: wiki, patreon: site })
})

test('an own licence is listed and named; its name is that of projects', async () => {
  await ok(add('licenses', { id: 'LicenseRef-Lamps', name: 'Lamp Licence' }))
  for (const [path, key] of [
    ['/v3/license', 'licenses'],
    ['/v2/tag/license', undefined],
  ] as const) {
    const body = (await t.anyone.get(path)).json()
    const listed: Row[] = key === undefined ? body : body[key]
    assert.deepEqual(
      listed.filter(({ short }) => short === 'LicenseRef-Lamps'),
      [{ short: 'LicenseRef-Lamps', name: 'Lamp Licence' }],
    )
  }
  const project = await t.make.project()
  const path = `/v3/project/${project.id}`
  await ok(t.as(project.owner).patch(path, { license_id: 'LicenseRef-Lamps' }))
  assert.equal((await t.anyone.get(path)).json().license.name, 'Lamp Licence')
  assert.deepEqual(await uses('licenses', 'LicenseRef-Lamps'), { projects: 1, versions: 0 })
})

test('a loader field with options is offered to the versions of its loaders', async () => {
  await ok(
    add('loader_fields', { name: 'size', type: 'enum', options: ['small', 'large'], optional: true, created: NOON }),
  )
  const [fabric] = (await rows('loaders')).filter(({ name }) => name === 'fabric')
  await ok(change('loaders', 'fabric', { fields: [...((fabric?.['fields'] ?? []) as string[]), 'size'] }))
  assert.deepEqual(await names('/v3/loader_field?loader_field=size', 'values', 'value'), ['small', 'large'])
  const project = await t.make.project()
  const { id } = await t.make.version({ project, loaders: ['fabric'] })
  const path = `/v3/version/${id}`
  assertError(await t.as(project.owner).patch(path, { size: 'huge' }), 400, 'validation_error', 'size')
  await ok(t.as(project.owner).patch(path, { size: 'large' }))
  assert.equal((await t.anyone.get(path)).json().size, 'large')
  assert.deepEqual(await uses('loader_fields', 'size'), { projects: 1, versions: 1 })
  assertError(await remove('loader_fields', 'size'), 400, 'validation_error', 'id')
  await ok(change('loader_fields', 'environment', { options: ['unknown', 'client_only'] }))
  assert.deepEqual(await names('/v3/loader_field?loader_field=environment', 'values', 'value'), [
    'unknown',
    'client_only',
  ])
  await ok(t.anyone.delete(`${TAGS}/loaders`, undefined, KEY))
})
